/** Media types and data URLs (RFC 2397). */
import type { Source } from "../../chat-events";

const dataUrl = /^data:([^;,]*)((?:;[^;,]*)*?)(;base64)?,/;

/** A URL as a source; a data URL becomes its bytes. */
export function sourceOfUrl(url: string, media_type?: string): Source {
  const head = dataUrl.exec(url);
  if (!head) return { kind: "url", url, ...(media_type !== undefined && { media_type }) };
  const type = head[1] || media_type || "application/octet-stream";
  const body = url.slice(head[0].length);
  if (head[3]) return { kind: "data", media_type: type, data: body };
  try {
    return { kind: "text", text: decodeURIComponent(body), media_type: type };
  } catch {
    return { kind: "url", url };
  }
}

const SCHEME = "data";

/** Bytes as a data URL. */
export const dataUrlOf = (media_type: string, data: string): string => `${SCHEME}:${media_type};base64,${data}`;

/** Text as base64 of its UTF-8 bytes. */
export const base64Of = (text: string): string => Buffer.from(text, "utf8").toString("base64");

const audioFormats: Readonly<Record<string, string>> = {
  wav: "audio/wav",
  mp3: "audio/mpeg",
  aac: "audio/aac",
  flac: "audio/flac",
  opus: "audio/opus",
  pcm16: "audio/pcm",
};

/** The media type of one of OpenAI's names for a sound format. */
export const audioType = (format: string): string => audioFormats[format] ?? `audio/${format || "wav"}`;

/** OpenAI's name of a sound's media type. */
export function audioFormat(media_type: string): string {
  const plain = media_type.split(";")[0] ?? "";
  const known = Object.entries(audioFormats).find(([, type]) => type === plain)?.[0];
  return (
    known ?? (plain === "audio/mp3" ? "mp3" : plain === "audio/x-wav" ? "wav" : plain.replace(/^audio\/(x-)?/, ""))
  );
}

const extensions: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  json: "application/json",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  heic: "image/heic",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  mp4: "video/mp4",
  webm: "video/webm",
  mov: "video/quicktime",
  mpeg: "video/mpeg",
};

/** A guess from the ending of an address, undefined when it says nothing. */
export function mediaTypeOfUrl(url: string): string | undefined {
  const ending = /\.([a-z0-9]{2,5})(?:[?#]|$)/i.exec(url)?.[1];
  return ending === undefined ? undefined : extensions[ending.toLowerCase()];
}
