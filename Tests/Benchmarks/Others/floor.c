// floor author PEERS DATABASE | floor receiver PORT DATABASE
//
// The least work of one peer of a shared board, in one thread. The author reads commands as JSON lines, commits to SQLite
// (WAL), sends one TLS 1.3 record to each receiver, and prints JSON lines. A receiver extends a SHA-256 chain, commits,
// prints a JSON line, and acknowledges. The author signs the head of the chain once a second. There are no certificates
// to check, no merging, no objects and no queues. Both end at the end of their input.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EDIT = 60, SIGNATURE = 61, SIZE = 60, MOST = 64, ROOM = 1 << 20 };

static sqlite3_stmt *insert, *begin, *commit;
static unsigned char chain[SHA256_DIGEST_LENGTH];
static char output[ROOM];
static size_t written;
static long objects;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static long long milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void open_database(const char *path) {
  sqlite3 *database;
  if (sqlite3_open(path, &database)) fail("sqlite3_open");
  sqlite3_exec(database,
               "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; CREATE TABLE log(id INTEGER PRIMARY KEY, bytes BLOB)",
               NULL, NULL, NULL);
  sqlite3_prepare_v2(database, "INSERT INTO log(bytes) VALUES(?)", -1, &insert, NULL);
  sqlite3_prepare_v2(database, "BEGIN IMMEDIATE", -1, &begin, NULL);
  sqlite3_prepare_v2(database, "COMMIT", -1, &commit, NULL);
}

static void run(sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) fail("sqlite3_step");
  sqlite3_reset(statement);
}

static void store(const void *bytes, int count) {
  sqlite3_bind_blob(insert, 1, bytes, count, SQLITE_STATIC);
  run(insert);
}

static void extend_chain(const void *bytes, size_t count) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  EVP_DigestInit_ex(context, EVP_sha256(), NULL);
  EVP_DigestUpdate(context, chain, sizeof chain);
  EVP_DigestUpdate(context, bytes, count);
  EVP_DigestFinal_ex(context, chain, NULL);
  EVP_MD_CTX_free(context);
}

static void flush(void) {
  for (size_t done = 0; done < written;) {
    ssize_t count = write(1, output + done, written - done);
    if (count <= 0) exit(0);
    done += (size_t)count;
  }
  written = 0;
}

static void print_object(long x, const char *text) {
  if (written > ROOM - 1024) flush();
  objects++;
  written += (size_t)sprintf(
      output + written,
      "{\"v\":1,\"event\":\"object-added\",\"by\":\"abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst\","
      "\"id\":\"%ld-kjyffok7qythm\",\"object\":{\"angle\":0,\"centerPosition\":[%ld,0],\"color\":\"#112233ff\","
      "\"id\":\"%ld-kjyffok7qythm\",\"scale\":1,\"size\":[200,50],\"text\":\"%.30s\",\"type\":\"text\","
      "\"updatedAt\":\"2026-11-28T01:02:03.456Z\",\"zIndex\":\"80\"}}\n",
      objects, x, objects, text);
}

static void print_done(long request) {
  written += (size_t)sprintf(
      output + written,
      "{\"v\":1,\"event\":\"done\",\"changed\":true,\"id\":\"%ld-kjyffok7qythm\",\"request\":\"r%ld\",\"verb\":\"text\"}\n",
      objects, request);
}

static long number_after(const char *line, const char *key) {
  const char *place = strstr(line, key);
  return place ? atol(place + strlen(key)) : 0;
}

static SSL *secured(SSL_CTX *context, int socket, int is_author) {
  int one = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  SSL *link = SSL_new(context);
  SSL_set_fd(link, socket);
  if ((is_author ? SSL_accept(link) : SSL_connect(link)) != 1) fail("TLS");
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
  return link;
}

static SSL_CTX *context_for(EVP_PKEY *key, int is_author) {
  SSL_CTX *context = SSL_CTX_new(is_author ? TLS_server_method() : TLS_client_method());
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
  if (is_author) {
    X509 *certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_get_notBefore(certificate), 0);
    X509_gmtime_adj(X509_get_notAfter(certificate), 86400);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    SSL_CTX_use_certificate(context, certificate);
    SSL_CTX_use_PrivateKey(context, key);
  }
  return context;
}

static void write_author(SSL **links, int count, EVP_PKEY *key, struct pollfd *polled) {
  static char input[ROOM];
  static unsigned char batch[ROOM];
  size_t held = 0, signature_size;
  unsigned char signature[128];
  EVP_PKEY_CTX *signer = EVP_PKEY_CTX_new(key, NULL);
  EVP_PKEY_sign_init(signer);
  long long due = 0;
  for (;;) {
    long long left = due - milliseconds();
    if (poll(polled, (nfds_t)count + 1, due == 0 ? -1 : left < 0 ? 0 : (int)left) < 0) fail("poll");
    if (polled[0].revents) {
      ssize_t got = read(0, input + held, sizeof input - held - 1);
      if (got <= 0) return;
      held += (size_t)got;
      input[held] = 0;
      char *line = input, *end;
      int size = 0;
      run(begin);
      while (size + SIZE < ROOM / 16 && (end = strchr(line, '\n'))) {
        *end = 0;
        unsigned char *edit = batch + size;
        const char *text = strstr(line, "\"text\":\"");
        long x = number_after(line, "\"at\":[");
        memset(edit, 0, SIZE);
        edit[0] = EDIT;
        memcpy(edit + 2, &x, sizeof x);
        if (text) strncpy((char *)edit + 12, text + 8, 40);
        extend_chain(edit, SIZE);
        store(edit, SIZE);
        size += SIZE;
        print_object(x, (char *)edit + 12);
        print_done(number_after(line, "\"request\":\"r"));
        line = end + 1;
      }
      run(commit);
      held -= (size_t)(line - input);
      memmove(input, line, held);
      for (int index = 0; size && index < count; index++) SSL_write(links[index], batch, size);
      flush();
      if (due == 0) due = milliseconds() + 1000;
    }
    for (int index = 0; index < count; index++) {
      char answers[4096];
      while (polled[index + 1].revents && SSL_read(links[index], answers, sizeof answers) > 0) continue;
    }
    if (due && milliseconds() >= due) {
      unsigned char head[SIZE] = {SIGNATURE};
      signature_size = sizeof signature;
      EVP_PKEY_sign(signer, signature, &signature_size, chain, sizeof chain);
      for (int index = 0; index < count; index++) SSL_write(links[index], head, SIZE);
      run(begin);
      store(signature, (int)signature_size);
      run(commit);
      due = 0;
    }
  }
}

static void write_receiver(SSL *link, EVP_PKEY *key, struct pollfd *polled) {
  unsigned char received[8192], signature[128];
  size_t signature_size = sizeof signature;
  int held = 0, got;
  EVP_PKEY_CTX *signer = EVP_PKEY_CTX_new(key, NULL), *verifier = EVP_PKEY_CTX_new(key, NULL);
  EVP_PKEY_sign_init(signer);
  EVP_PKEY_sign(signer, signature, &signature_size, chain, sizeof chain);
  EVP_PKEY_verify_init(verifier);
  for (;;) {
    if (poll(polled, 2, -1) < 0) fail("poll");
    char ignored[64];
    if (polled[0].revents && read(0, ignored, sizeof ignored) <= 0) return;
    if (!polled[1].revents) continue;
    int edits = 0;
    run(begin);
    while ((got = SSL_read(link, received + held, (int)sizeof received - held)) > 0) {
      held += got;
      int place = 0;
      for (; place + SIZE <= held; place += SIZE) {
        unsigned char *edit = received + place;
        edits++;
        store(edit, SIZE);
        if (edit[0] == SIGNATURE) {
          // The cost of the verification does not depend on its result.
          EVP_PKEY_verify(verifier, signature, signature_size, chain, sizeof chain);
          continue;
        }
        long x;
        memcpy(&x, edit + 2, sizeof x);
        extend_chain(edit, SIZE);
        print_object(x, (char *)edit + 12);
      }
      held -= place;
      memmove(received, received + place, (size_t)held);
    }
    int error = SSL_get_error(link, got);
    run(commit);
    flush();
    if (error != SSL_ERROR_WANT_READ) return;
    if (edits) SSL_write(link, "ack", 3);
  }
}

int main(int count, char **words) {
  int is_author = count == 4 && !strcmp(words[1], "author");
  if (count != 4) return 64;
  int number = atoi(words[2]), listener = socket(AF_INET, SOCK_STREAM, 0);
  open_database(words[3]);
  EVP_PKEY *key = EVP_EC_gen("P-256");
  SSL_CTX *context = context_for(key, is_author);
  SSL *links[MOST];
  struct pollfd polled[MOST + 1] = {{.fd = 0, .events = POLLIN}};
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int peers = is_author ? number : 1;
  if (peers < 1 || peers > MOST) return 64;
  if (is_author) {
    if (bind(listener, (void *)&address, length) || listen(listener, MOST)) fail("listen");
    getsockname(listener, (void *)&address, &length);
    printf("{\"event\":\"listening\",\"port\":%d}\n", ntohs(address.sin_port));
    fflush(stdout);
  } else {
    address.sin_port = htons((uint16_t)number);
    if (connect(listener, (void *)&address, length)) fail("connect");
  }
  for (int index = 0; index < peers; index++) {
    int socket = is_author ? accept(listener, NULL, NULL) : listener;
    polled[index + 1] = (struct pollfd){.fd = socket, .events = POLLIN};
    links[index] = secured(context, socket, is_author);
  }
  printf("{\"event\":\"ready\"}\n");
  fflush(stdout);
  if (is_author) write_author(links, peers, key, polled);
  else write_receiver(links[0], key, polled);
  return 0;
}
