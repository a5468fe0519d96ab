/** Pictures for a message: read in the browser and made small enough to travel. */

const MAX_SIDE = 1568;
export const MAX_IMAGES = 4;
export const IMAGE_TYPES = "image/png,image/jpeg,image/webp,image/gif";

/** A picture as a data: URL, at most 1568 pixels a side. Throws when the file is no picture that this browser reads. */
export async function imageDataUrl(file: Blob): Promise<string> {
  const bitmap = await createImageBitmap(file);
  try {
    const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(bitmap.width * scale));
    canvas.height = Math.max(1, Math.round(bitmap.height * scale));
    const context = canvas.getContext("2d");
    if (!context) throw new Error("no canvas");
    // JPEG has no transparency.
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/jpeg", 0.86);
  } finally {
    bitmap.close();
  }
}
