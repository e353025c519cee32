/** What the upload page says while it works and when it has ended. */

import { count } from "../format";
import type { Outcome } from "./queue";

export type Deed = "read" | "saved";

const MEBIBYTE = 2 ** 20;

/** "12 of 40 read" */
export function progressWords(through: number, total: number, deed: Deed): string {
  return `${through} of ${total} ${deed}`;
}

/** "38 texts read, 2 could not be." */
export function endWords({ done, failed, cancelled }: Outcome, deed: Deed): string {
  const words = [`${count(done, "text")} ${deed}`];
  if (failed > 0) words.push(`${failed} could not be`);
  return `${cancelled ? "Cancelled: " : ""}${words.join(", ")}.`;
}

/** Why a file of this size is not sent; "" when it is. */
export function sizeProblem(bytes: number, mostBytes: number): string {
  if (bytes <= mostBytes) return "";
  const size = (bytes / MEBIBYTE).toFixed(1);
  return `This has ${size} MiB; ${mostBytes / MEBIBYTE} are read at most.`;
}

/** What to say of an answer that is no card, by its HTTP status. */
export function answerProblem(status: number, redirected: boolean): string {
  if (redirected) return "You are signed out. Sign in again in another tab, then try again.";
  if (status === 413) return "The server, or what stands before it, takes nothing of this size.";
  if (status === 403) return "This page is too old or not open to you any more. Load it again.";
  if (status === 429) return "These are too many requests at once. Try again in a minute.";
  if (status === 503) return "The server cannot reach its database just now. Try again soon.";
  return `The server answered with an error (${status}). Its log has the reason.`;
}

export const UNREACHABLE = "The server cannot be reached, or the file cannot be read. Try again.";
