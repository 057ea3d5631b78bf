/**
 * A kind of job: long work that an operator starts, in steps. Services contribute kinds through
 * `Service.createJobKinds`; the server starts, runs and lists jobs without knowing what they do.
 */
import type { z } from 'zod'
import type { AuditActor } from '../audit-log.ts'
import { defineErrors } from '../errors.ts'
import type { OperatorRole } from '../operator-item.ts'

export interface JobKind<Input extends object = object, Position extends object = object> {
  /** `{service}.{what}`, such as `key-store.rotate-keys`. */
  name: string
  /** What it does, as one sentence. */
  summary: string
  /** The role for its service that starting, cancelling and downloading the result require. */
  role: OperatorRole
  input: z.ZodType<Input>
  /** What its output is, if it has one. */
  file?(job: { input: Input; createdAt: string }): { name: string; contentType: string }
  /**
   * Does a few seconds of work and returns where to continue. A step whose process stops is repeated
   * from the last stored position, possibly while the first process still runs it, so everything that
   * must happen once is a condition of its write.
   */
  runStep(job: JobRun<Input, Position>): Promise<JobStep<Position>>
}

export interface JobRun<Input, Position> {
  input: Input
  /** Where the previous step ended; undefined in the first step. */
  position: Position | undefined
  /** When the job was started, in milliseconds. */
  startedAt: number
  /** Who started it, for the audit log. */
  by: AuditActor
}

export interface JobStep<Position> {
  /** Where to continue; undefined if the job is done. Stored as JSON. */
  position: Position | undefined
  /** How many of `total` are done; `total` is undefined while it is unknown. */
  done: number
  total?: number | undefined
  /** Added to the counts of the job. */
  counts?: Readonly<Record<string, number>>
  failures?: readonly JobFailure[]
  /** Appended to the file. */
  output?: Uint8Array
  /** When to continue, for a limited rate; immediately unless given. */
  waitMs?: number
}

export interface JobFailure {
  target: string
  problem: string
}

/** The service that a kind belongs to. */
export function serviceOfKind(kind: string): string {
  return kind.slice(0, kind.indexOf('.'))
}

export const jobError = defineErrors('job', {
  not_found: [404, 'Job not found. Jobs are kept for 30 days after they ended.'],
  already_running: [
    409,
    'A job of this kind is running. Wait until it ends, or cancel it; its id is in data.id.',
  ],
  ended: [409, 'The job has ended already'],
  no_result: [
    404,
    'The job has no file to download. It is not done, makes none, or the file has expired.',
  ],
  output_too_large: [
    413,
    'The file would be larger than 256 MB. Start the job again with a narrower filter.',
  ],
})
