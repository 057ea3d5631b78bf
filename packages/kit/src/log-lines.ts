/**
 * Lines of a log, written together every few milliseconds: a write costs more than making the line.
 * What has not been written when the process ends, also by an exception that nobody caught, is
 * written then.
 */

const EVERY_MS = 10

/** Enough for one write; more is not kept back. */
const MOST_CHARACTERS = 64 * 1024

export type LineSink = (line: string, isUrgent?: boolean) => void

/** A sink that hands on lines together; an urgent one at once, with all before it. */
export function together(
  write: (text: string) => void,
  when: { later(run: () => void): void; exit(run: () => void): void } = system,
): LineSink {
  let waiting = ''
  let isScheduled = false

  function flush() {
    isScheduled = false
    if (waiting === '') return
    const text = waiting
    waiting = ''
    write(text)
  }

  when.exit(flush)
  return (line, isUrgent = false) => {
    waiting += line
    if (isUrgent || waiting.length >= MOST_CHARACTERS) return flush()
    if (isScheduled) return
    isScheduled = true
    when.later(flush)
  }
}

const system = {
  later: (run: () => void) => void setTimeout(run, EVERY_MS).unref(),
  exit: (run: () => void) => void process.on('exit', run),
}
