/** The service worker, which loads the page from a cache while the host is offline. `app.mjs` fills the cache. */

/** The time to wait for the host before the stored page is used, in milliseconds. */
const TIMEOUT = 3000;
/** The ids of the pages from the cache. The host may have another version, so all their files come from the cache. */
const stored = new Set();

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));

addEventListener("fetch", (event) => {
  const { request, clientId } = event;
  if (request.mode === "navigate") event.respondWith(open(event));
  else if (stored.has(clientId)) event.respondWith(find(request).then((found) => found ?? fetch(request)));
});

const find = (request) => caches.match(request, { ignoreSearch: true });

async function open({ request, resultingClientId }) {
  const fetched = fetch(request), found = await find(request);
  if (!found) return fetched;
  const late = new Promise((done) => setTimeout(done, TIMEOUT));
  const answer = await Promise.race([fetched.catch(() => null), late]);
  if (!answer) stored.add(resultingClientId);
  return answer ?? found;
}
