/**
 * Removes the link from the address before the page loads anything else, so that the browser stores neither icons nor
 * later entries of the history with the link. This script is not a module, because the browser would run a module only
 * after it has read the page.
 */
globalThis.openedFragment = location.hash;
if (location.hash) history.replaceState(null, "", location.pathname);
