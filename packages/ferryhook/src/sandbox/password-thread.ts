/** The code of a thread that hashes passwords. */
import { compareSync, hashSync } from 'bcryptjs'
import type { PasswordJob } from './passwords.ts'
import { serveJobs } from './thread-jobs.ts'

serveJobs((job: PasswordJob): string | boolean =>
  'cost' in job ? hashSync(job.password, job.cost) : compareSync(job.password, job.hash),
)
