// Anonymous memory of a process. The resident size also includes pages of the data file in the page cache,
// which the operating system can drop at any time.

import { readFileSync } from 'node:fs'

/** In megabytes; undefined on systems without /proc. */
export function anonymousMb(pid: number | 'self' = 'self'): number | undefined {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    const [, kilobytes] = /^Anonymous:\s+(\d+) kB$/m.exec(rollup) ?? []
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
  } catch {
    return undefined
  }
}
