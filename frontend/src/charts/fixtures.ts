/** A view in the shape of the API, for tests. */

import type { ChartView, Group, Summary } from "../comparison";
import type { Theme } from "./theme";

export const theme: Theme = {
  text: "#111111",
  muted: "#555555",
  grid: "#dddddd",
  surface: "#ffffff",
  accent: "#006655",
  vague: "#888888",
  fontFamily: "sans-serif",
  cipher: (slot) => `colour of ${slot}`,
};

export function one(value: number): Summary {
  return { median: value, q1: value, q3: value, min: value, max: value, n: 1 };
}

export const several: Summary = {
  median: 159e6,
  q1: 123e6,
  q3: 194e6,
  min: 87e6,
  max: 230e6,
  n: 4,
};

export const laptop: Group = {
  key: "intel-core-i7-2635qm",
  label: "Intel Core i7-2635QM",
  hosts: 4,
  values: { "aes128-gcm@openssh.com": one(328.37e6), "aes128-ctr": several },
};

export const server: Group = {
  key: "amd-epyc",
  label: "AMD EPYC",
  hosts: 1,
  values: { "aes128-ctr": one(409e6) },
};

export function view(changes: Partial<ChartView> = {}): ChartView {
  return {
    comparison: {
      unit: "B/s",
      ciphers: ["aes128-gcm@openssh.com", "aes128-ctr"],
      groups: [laptop, server],
    },
    colours: { "aes128-gcm@openssh.com": "aes-gcm-1", "aes128-ctr": "aes-ctr-1" },
    names: { "aes128-gcm@openssh.com": "aes128-gcm", "aes128-ctr": "aes128-ctr" },
    measured_here: ["amd-epyc"],
    scale: "linear",
    ...changes,
  };
}
