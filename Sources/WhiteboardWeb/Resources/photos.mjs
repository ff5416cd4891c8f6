import { BoardError } from "./errors.mjs";

/** The maximum number of bytes in a photo. */
export const PHOTO_BYTES = 32 << 20;

const text = async (blob, start, end) => new TextDecoder("latin1").decode(await blob.slice(start, end).arrayBuffer());

/** Returns whether a file has the signature of a WebP. */
export const isWebP = async (blob) => await text(blob, 0, 4) === "RIFF" && await text(blob, 8, 12) === "WEBP";

/** Converts a WebP to a PNG if it may be transparent, otherwise to a JPEG; boards accept only these formats. */
export async function convertWebP(blob) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(blob);
  } catch {
    throw new BoardError("photo-malformed");
  }
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
  bitmap.close();
  const isOpaque = await text(blob, 12, 16) === "VP8 ";
  return canvas.convertToBlob(isOpaque ? { type: "image/jpeg", quality: 0.9 } : { type: "image/png" });
}
