/** A view in the shape of the API, for tests. */

import type { ChartView, Group, LinesView, ScatterView, Summary } from "../comparison";
import type { Room } from "./built";
import type { Theme } from "./theme";

export const theme: Theme = {
  text: "#111111",
  muted: "#555555",
  grid: "#dddddd",
  surface: "#ffffff",
  accent: "#006655",
  heatLow: "#ffffff",
  heatHigh: "#004400",
  fontFamily: "sans-serif",
  cipher: (slot) => `colour of ${slot}`,
};

export const room: Room = { width: 900, rows: Number.POSITIVE_INFINITY };

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
      tool: "ssh",
      group_by: "cpu",
      metric: "throughput",
      unit: "B/s",
      profile: null,
      ciphers: ["aes128-gcm@openssh.com", "aes128-ctr"],
      groups: [laptop, server],
      excluded: { no_baseline: 0 },
    },
    colours: { "aes128-gcm@openssh.com": "aes-gcm-1", "aes128-ctr": "aes-ctr-1" },
    names: { "aes128-gcm@openssh.com": "aes128-gcm", "aes128-ctr": "aes128-ctr" },
    measured_here: ["amd-epyc"],
    scale: "linear",
    ...changes,
  };
}

export function linesView(changes: Partial<LinesView> = {}): LinesView {
  return {
    kind: "lines",
    unit: "B/s",
    scale: "log",
    sizes: [16, 1024, 16384],
    ciphers: ["aes-128-gcm", "des-ede3-cbc"],
    colours: { "aes-128-gcm": "aes-gcm-1", "des-ede3-cbc": "3des-2" },
    names: {},
    groups: [
      {
        key: "epyc",
        label: "AMD EPYC",
        note: "2 hosts",
        here: false,
        values: {
          "aes-128-gcm": [one(4e8), several, one(4e9)],
          "des-ede3-cbc": [one(3e7), null, one(3.1e7)],
        },
      },
      {
        key: "nas",
        label: "NAS",
        note: "1 host",
        here: true,
        values: { "aes-128-gcm": [null, null, one(9e7)] },
      },
    ],
    ...changes,
  };
}

export function scatterView(changes: Partial<ScatterView> = {}): ScatterView {
  return {
    kind: "scatter",
    unit: "B/s",
    scale: "linear",
    block_size: "16 KiB",
    ciphers: ["aes128-gcm@openssh.com", "3des-cbc"],
    colours: { "aes128-gcm@openssh.com": "aes-gcm-1", "3des-cbc": "3des-2" },
    names: {},
    points: [
      {
        host: "nas",
        key: "nas",
        cipher: "3des-cbc",
        own: "des-ede3-cbc",
        openssl: one(3.4e7),
        ssh: one(3.2e7),
      },
      {
        host: "nas",
        key: "nas",
        cipher: "aes128-gcm@openssh.com",
        own: "aes-128-gcm",
        openssl: one(4e9),
        ssh: several,
      },
      {
        host: "web",
        key: "web",
        cipher: "3des-cbc",
        own: "des-ede3-cbc",
        openssl: one(4e7),
        ssh: one(1e6),
      },
    ],
    ...changes,
  };
}
