/** What the upload page says. */

import { count } from "../format";

const MEBIBYTE = 2 ** 20;

/** How many results a tick box selects: its value has their keys, joined by commas. */
export function resultsOf(value: string, stated?: string): number {
  return stated === undefined ? value.split(",").length : Number(stated);
}

export function saveWords(results: number): string {
  return `Save ${count(results, "result")}`;
}

/** Why files of this size are not sent; "" when they are. */
export function sizeProblem(bytes: number, mostBytes: number): string {
  if (bytes <= mostBytes) return "";
  const size = (bytes / MEBIBYTE).toFixed(1);
  return `Too large: ${size} MiB. Upload at most ${mostBytes / MEBIBYTE} MiB at a time.`;
}

/** What to say of an answer that is no preview, by its HTTP status. */
export function answerProblem(status: number, redirected: boolean): string {
  if (redirected) return "You are signed out. Sign in again in another tab, then save again.";
  if (status === 413) return "The form is too large for this server.";
  if (status === 403) return "You may not save results.";
  if (status === 429) return "Too many requests. Try again in a minute.";
  if (status === 503) return "The database is unavailable. Try again soon.";
  return `The server answered with an error (${status}). Its log has the reason.`;
}

export const UNREACHABLE = "The server cannot be reached. Try again.";

export function say(words: string): void {
  const status = document.getElementById("upload-status");
  if (status) status.textContent = words;
}
