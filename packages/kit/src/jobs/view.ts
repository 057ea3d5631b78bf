/** A job as responses show it. */
import { z } from '@hono/zod-openapi'
import { type JobItem, jobStates, MAX_FAILURES } from './item.ts'
import { serviceOfKind } from './kind.ts'

export const JobView = z
  .object({
    id: z.string().openapi({ example: 'job_01ARZ3NDEKTSV4RRFFQ69G5FAV' }),
    kind: z.string().openapi({ example: 'key-store.rotate-keys' }),
    service: z.string().openapi({ example: 'key-store' }),
    state: z.enum(jobStates),
    input: z.record(z.string(), z.unknown()),
    done: z.int(),
    total: z.int().nullable().openapi({ description: 'Null while it is unknown' }),
    counts: z
      .record(z.string(), z.int())
      .openapi({ example: { rotated: 36, young: 374, failed: 1 } }),
    failures: z
      .array(z.object({ target: z.string(), problem: z.string() }))
      .openapi({ description: `The first ${MAX_FAILURES}` }),
    createdAt: z.string(),
    createdBy: z.string().openapi({ example: 'operator:admin' }),
    updatedAt: z.string(),
    endedAt: z.string().nullable(),
    cancelledBy: z.string().nullable().openapi({
      description: 'Set as soon as it is requested; the job ends after its current step',
    }),
    problem: z
      .string()
      .nullable()
      .openapi({ description: 'Why it failed, or why its last step did, which is repeated' }),
    file: z
      .object({
        name: z.string(),
        contentType: z.string(),
        bytes: z.int(),
        expiresAt: z.string(),
      })
      .nullable(),
  })
  .openapi('Job')

/** A file that can be downloaded; `expiresAt` in seconds since the epoch. */
export interface JobFile {
  name: string
  contentType: string
  bytes: number
  expiresAt: number
}

export function toJobView(job: JobItem, file: JobFile | undefined): z.infer<typeof JobView> {
  const { SK: id, kind, state, done, total = null, counts, failures } = job
  const { createdAt, createdBy, updatedAt, endedAt = null } = job
  const { cancelledBy = null, problem = null } = job
  return {
    id,
    kind,
    service: serviceOfKind(kind),
    state,
    input: JSON.parse(job.input) as Record<string, unknown>,
    done,
    total,
    counts,
    failures,
    createdAt,
    createdBy,
    updatedAt,
    endedAt,
    cancelledBy,
    problem,
    file: file ? { ...file, expiresAt: new Date(file.expiresAt * 1000).toISOString() } : null,
  }
}
