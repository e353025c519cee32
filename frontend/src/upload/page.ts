/** The upload page: files dropped or pasted, results selected, errors that keep the input. */

import { initPreview } from "./preview";
import { initSources } from "./sources";

export function initUpload(): void {
  const form = document.querySelector<HTMLFormElement>("#upload-form");
  if (form) initSources(form);
  if (document.getElementById("preview-form")) initPreview();
}
