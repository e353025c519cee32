/** Messages of the upload page. */

import { count } from "../format";

const MEBIBYTE = 2 ** 20;

/** Number of results that a checkbox selects: its value has their keys, separated by commas. */
export function resultsOf(value: string, stated?: string): number {
  return stated === undefined ? value.split(",").length : Number(stated);
}

export function saveWords(results: number): string {
  return `Save ${count(results, "result")}`;
}

/** Error for files of this size; "" if they may be sent. */
export function sizeProblem(bytes: number, mostBytes: number): string {
  if (bytes <= mostBytes) return "";
  const size = (bytes / MEBIBYTE).toFixed(1);
  return `Too large: ${size} MiB. Upload at most ${mostBytes / MEBIBYTE} MiB at a time.`;
}

/** Error for a response that is not a preview, by its HTTP status. */
export function answerProblem(status: number, redirected: boolean): string {
  if (redirected) return "You are signed out. Sign in again in another tab, then save again.";
  if (status === 413) return "The form is too large. Save fewer results at a time.";
  if (status === 403) return "You do not have permission to save results. Ask the administrator for access.";
  if (status === 429) return "Too many requests. Try again in a minute.";
  if (status === 503) return "The database is unavailable. Try again in a minute.";
  return `The server returned an error (${status}). See the server log.`;
}

export const UNREACHABLE = "Cannot reach the server. Check your connection and try again.";

export function announce(words: string): void {
  const status = document.getElementById("upload-status");
  if (status) status.textContent = words;
}
