// The measured cases. A system that lacks an operation omits its case.

export const CASES = ['get', 'put', 'update', 'transaction', 'query'] as const
export type Case = (typeof CASES)[number]

export const CASE_TEXT: Record<Case, string> = {
  get: 'get',
  put: 'put',
  update: 'conditional update',
  transaction: 'transaction of 3 puts',
  query: 'query of 25',
}

/** The i-th call of a case. A system whose reads are synchronous returns no promise. */
export type Call = (i: number) => unknown

export interface System {
  readonly calls: Partial<Record<Case, Call>>
  /** Processes other than this one whose CPU time belongs to the system. */
  readonly processes?: readonly number[]
  /** The time until the first response. */
  readonly startMs?: number
  /** Writes items 0…count-1. */
  load(count: number): Promise<void>
  close(): Promise<void>
}
