// Anonymous memory: what a process really takes. Resident size also counts the pages of the data file
// that happen to be in the page cache, which the system can drop at any time.

import { readFileSync } from 'node:fs'

/** In megabytes; undefined on systems that do not tell. */
export function anonymousMb(pid: number | 'self' = 'self'): number | undefined {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    const [, kilobytes] = /^Anonymous:\s+(\d+) kB$/m.exec(rollup) ?? []
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
  } catch {
    return undefined
  }
}
