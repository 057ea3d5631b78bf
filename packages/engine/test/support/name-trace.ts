// Reads a trace of system calls for names that were created and not flushed: a power failure could lose
// them, with everything behind them, although the files themselves were flushed.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'

export const hasStrace = spawnSync('strace', ['-V']).status === 0
if (!hasStrace) console.warn('Flush traces are skipped: strace is not installed')

/** The command that writes the trace, to put before a program. */
export function traceNames(trace: string): string[] {
  const calls = 'trace=openat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,write,fsync'
  return ['strace', '-f', '-y', '-s', '40', '-e', calls, '-o', trace]
}

const CREATED = [
  /mkdir(?:at\(AT_FDCWD<[^>]*>, |\()"([^"]+)"/,
  /openat\(AT_FDCWD<[^>]*>, "([^"]+)", [A-Z_|]*O_CREAT/,
  /(?:rename|link)\("[^"]+", "([^"]+)"/,
  /(?:renameat2?|linkat)\(AT_FDCWD<[^>]*>, "[^"]+", AT_FDCWD<[^>]*>, "([^"]+)"/,
]

/**
 * Names below a directory, in which the program ran if its paths are relative, that have no flush between their creation and the first line of the trace that
 * has the text, or the end. A temporary file that was renamed or removed needs none.
 */
export function unflushedNames(trace: string, below: string, until?: string): string[] {
  const pending = new Set<string>()
  const known = new Set<string>()
  /** A call that another thread interrupts is printed in two parts; the second one has no path. */
  const flushing = new Map<string, string>()
  for (const line of readFileSync(trace, 'utf8').split('\n')) {
    if (until !== undefined && line.includes(until)) break
    const [thread = ''] = line.split(' ')
    const flush = /fsync\(\d+<([^>]*)>/.exec(line)?.[1]
    if (flush !== undefined && line.includes('<unfinished')) flushing.set(thread, flush)
    const ended = line.includes('fsync resumed') ? flushing.get(thread) : flush
    if (ended !== undefined && / = 0/.test(line)) {
      for (const name of pending) if (dirname(name) === ended) pending.delete(name)
    }
    if (/ = -1 (?!EEXIST)/.test(line)) continue
    for (const created of CREATED) {
      const path = created.exec(line)?.[1]
      if (path === undefined) continue
      const name = resolve(below, path)
      // LMDB opens existing files with O_CREAT, too.
      if (line.includes('openat(') && known.has(name)) continue
      known.add(name)
      if (!line.includes(' = -1 ') && name.startsWith(`${below}/`)) pending.add(name)
    }
  }
  return [...pending].filter((name) => !basename(name).endsWith('.tmp'))
}
