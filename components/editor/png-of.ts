/**
 * An SVG document as PNG, drawn by the browser itself at twice its size.
 */
const scale = 2;
// Browsers refuse larger canvases, or hand out empty ones.
const sideMaxPx = 8_192;

export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const factor = Math.min(scale, sideMaxPx / Math.max(width, height, 1));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width * factor));
  canvas.height = Math.max(1, Math.round(height * factor));
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null)
        reject(new Error(`A drawing of ${width} × ${height} is too large for a PNG: export SVG.`));
      else resolve(blob);
    }, "image/png");
  });
}
