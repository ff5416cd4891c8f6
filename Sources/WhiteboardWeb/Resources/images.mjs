/** Photos: reading files of the user, and decoding the photos on the board. */

/** The longest side of a photo that is added, in pixels, and the largest file that is opened, in bytes. */
const SIDE = 2048;
const FILE_LIMIT = 100 << 20;
/** The number of decoded photos that are kept. */
const DECODED = 60;

/**
 * Scales a file of the user down, and encodes it again, which also removes the place where it was taken.
 *
 * @returns {Promise<Blob>} A JPEG, or a PNG if parts of the picture are transparent.
 */
export async function prepared(file) {
  if (file.size > FILE_LIMIT) throw new Error("This photo is larger than 100 MB. Choose a smaller one.");
  let bitmap;
  try {
    bitmap = await decode(file);
  } catch {
    throw new Error("This browser cannot open the file as a photo. It may be damaged. Choose a JPEG, PNG or WebP file.");
  }
  const factor = Math.min(1, SIDE / Math.max(bitmap.width, bitmap.height));
  const [width, height] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * factor)));
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, width, height);
  bitmap.close?.();
  const isTransparent = file.type !== "image/jpeg" && context.getImageData(0, 0, width, height).data.some((value, index) => index % 4 === 3 && value < 255);
  const blob = await new Promise((done) => canvas.toBlob(done, isTransparent ? "image/png" : "image/jpeg", 0.85));
  if (!blob) throw new Error("There is not enough memory for this photo. Choose a smaller one.");
  return blob;
}

async function decode(blob, options) {
  if (globalThis.createImageBitmap) return createImageBitmap(blob, options);
  const image = new Image();
  image.src = URL.createObjectURL(blob);
  await image.decode();
  return image;
}

/** The decoded photos of the board, by SHA-256. */
export class Photos {
  /** From the least to the most recently used: a picture, or null while it is being decoded or cannot be. */
  #decoded = new Map();

  /** `onDecoded(sha256)` is called when a photo can be drawn. */
  constructor(board, onDecoded) {
    this.board = board;
    this.onDecoded = onDecoded;
    board.addEventListener("photo", ({ detail }) => {
      this.#decoded.delete(detail.sha256);
      onDecoded(detail.sha256);
    });
  }

  /** Returns the picture of a photo object; null if it is not there yet, or is damaged. */
  get({ sha256, pixelSize }) {
    const known = this.#decoded.get(sha256);
    if (known === undefined) this.#load(sha256, pixelSize);
    else {
      this.#decoded.delete(sha256);
      this.#decoded.set(sha256, known);
    }
    return known ?? null;
  }

  async #load(sha256, [width, height] = [0, 0]) {
    this.#decoded.set(sha256, null);
    const blob = await this.board.photo(sha256);
    if (!blob) return;
    const side = Math.max(width, height);
    const options = side > SIDE ? { resizeWidth: Math.round(width * SIDE / side), resizeHeight: Math.round(height * SIDE / side), resizeQuality: "high" } : undefined;
    try {
      this.#decoded.set(sha256, await decode(blob, options));
    } catch {
      return;
    }
    for (const [key, picture] of this.#decoded) {
      if (this.#decoded.size <= DECODED) break;
      picture?.close?.();
      this.#decoded.delete(key);
    }
    this.onDecoded(sha256);
  }
}
