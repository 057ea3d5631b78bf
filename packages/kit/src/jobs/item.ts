/** Jobs as stored in the operations table. Only a job that has ended expires. */
import * as z from 'zod'

export const jobStates = ['running', 'done', 'failed', 'cancelled'] as const
export type JobState = (typeof jobStates)[number]

/** Failures that a job lists; the count has all of them. */
export const MAX_FAILURES = 50
export const MAX_FAILURE_CHARACTERS = 300

export const JobId = z.string().regex(/^job_[0-9A-HJKMNP-TV-Z]{26}$/)
const count = z.number().int().min(0)

export const JobItem = z.object({
  PK: z.literal('JOBS'),
  /** The id, which sorts by time. */
  SK: JobId,
  kind: z.string(),
  state: z.enum(jobStates),
  /** JSON. */
  input: z.string(),
  /** Where the next step continues, as JSON. */
  position: z.string().optional(),
  done: count,
  total: count.optional(),
  counts: z.record(z.string(), count),
  failures: z.array(z.object({ target: z.string(), problem: z.string() })).max(MAX_FAILURES),
  /** Chunks and bytes of the file. */
  chunks: count,
  bytes: count,
  createdAt: z.string(),
  createdBy: z.string(),
  /** The client's address, for the entries of the audit log that the job causes. */
  address: z.string().optional(),
  updatedAt: z.string(),
  endedAt: z.string().optional(),
  cancelledBy: z.string().optional(),
  /** Why it failed, or why its last step did. */
  problem: z.string().optional(),
  /** In milliseconds: when the next step is due, or when the lease of the running one ends. */
  dueAt: z.number().int().optional(),
  leaseId: z.string().optional(),
  /** Starts of the current step. */
  attempts: count,
  expiresAt: z.number().int().optional(),
})
export type JobItem = z.infer<typeof JobItem>

/** The running job of a kind: there is at most one. */
export const RunningJobItem = z.object({
  PK: z.literal('JOBS#RUNNING'),
  /** The kind. */
  SK: z.string(),
  jobId: JobId,
})

/** A part of the file that a job makes. */
export const JobChunkItem = z.object({
  PK: z.string().startsWith('JOB#'),
  /** The number, with leading zeros. */
  SK: z.string().regex(/^CHUNK#\d{4}$/),
  data: z.custom<Uint8Array>((value) => value instanceof Uint8Array),
  expiresAt: z.number().int(),
})

export function jobKey(id: string) {
  return { PK: 'JOBS', SK: id } as const
}

export function runningKey(kind: string) {
  return { PK: 'JOBS#RUNNING', SK: kind } as const
}

export function chunkKey(id: string, number: number) {
  return { PK: `JOB#${id}`, SK: `CHUNK#${String(number).padStart(4, '0')}` } as const
}
