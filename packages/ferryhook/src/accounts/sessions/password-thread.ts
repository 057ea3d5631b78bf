/** The program of a thread that hashes and verifies passwords. */
import { compareSync, hashSync } from 'bcryptjs'
import { serveJobs } from '../../sandbox/thread-jobs.ts'
import type { PasswordJob } from './password-hasher.ts'

serveJobs((job: PasswordJob): string | boolean => {
  if ('cost' in job) return hashSync(job.password, job.cost)
  return compareSync(job.password, job.hash)
})
