/** The ways to arrange the selected objects, for the menu, the style panel and the keys. */

/** Label, name of the icon, key with Alt, and the method of `Board` with its argument. */
export const ALIGNMENTS = [
  ["Align left", "left", "A"], ["Align centers", "center", "H"], ["Align right", "right", "D"], ["Align top", "top", "W"], ["Align middles", "middle", "V"], ["Align bottom", "bottom", "S"],
].map(([label, edge, key]) => ({ label, icon: `edge-${edge}`, key, method: "align", value: edge }));

/** The same for distributing, with the key for Shift and Alt. */
export const DISTRIBUTIONS = [["Distribute horizontally", "horizontally", "H"], ["Distribute vertically", "vertically", "V"]]
  .map(([label, axis, key]) => ({ label, icon: `edge-${axis}`, key, method: "distribute", value: axis }));

/** Returns the number of objects and groups that are moved; lines between objects follow them. */
export const unitCount = (objects) =>
  new Set(objects.filter(({ startBinding, endBinding }) => !startBinding || !endBinding).map(({ id, groups }) => groups?.at(-1) ?? id)).size;
