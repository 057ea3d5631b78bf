/** Waits for as long as something is heard, and no longer than that. */

export interface Silence {
  /** Aborted once nothing was heard for too long. */
  signal: AbortSignal
  /** Something was heard: the time begins anew. */
  isOver: () => void
  /** Nothing more is waited for. */
  end: () => void
}

export function silenceAfter(ms: number): Silence {
  const tooLong = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = () => clearTimeout(timer)
  const isOver = () => {
    end()
    timer = setTimeout(() => tooLong.abort(), ms)
  }
  isOver()
  return { signal: tooLong.signal, isOver, end }
}
