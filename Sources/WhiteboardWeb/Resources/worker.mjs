/** The service worker, which loads the page from a cache while the host is offline. `app.mjs` fills the cache. */

const CACHE = "page";
/** The time to wait for the host before the stored file is used, in milliseconds. */
const PATIENCE = 3000;

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));

addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin || pathname.startsWith("/link")) return;
  event.respondWith(answer(event));
});

async function answer(event) {
  const cache = await caches.open(CACHE);
  const stored = await cache.match(event.request, { ignoreSearch: true });
  const fetched = fetch(event.request).then((response) => {
    if (response.ok && stored) event.waitUntil(cache.put(event.request, response.clone()));
    return response;
  });
  if (!stored) return fetched;
  const late = new Promise((done) => setTimeout(done, PATIENCE, stored));
  return Promise.race([fetched.catch(() => stored), late]);
}
