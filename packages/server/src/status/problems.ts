/** Problems of the server itself; services report their own. */
import type { Problem } from '@strongroom/kit/service-status'
import type { Store } from '../store.ts'
import type { LastBackup } from './backup.ts'
import type { ProcessStatus } from './processes.ts'
import type { StorageStatus } from './storage.ts'

const DAY_MS = 86_400_000
const MAX_BACKUP_AGE_MS = 25 * 3_600_000
const MIN_FREE_SHARE = 0.1
const MIN_FREE_BYTES = 1_000_000_000

/** Worst first, then the oldest. */
export function inOrder<P extends Problem>(problems: readonly P[]): P[] {
  const rank = ({ severity }: Problem) => (severity === 'bad' ? 0 : 1)
  const since = (problem: Problem) => problem.since ?? Number.POSITIVE_INFINITY
  return problems.toSorted((a, b) => rank(a) - rank(b) || since(a) - since(b))
}

export function processProblems(processes: readonly ProcessStatus[]): Problem[] {
  return processes
    .filter(({ isMissing }) => isMissing)
    .map(({ role, host, pid, seenAt }) => ({
      severity: role === 'worker' ? 'bad' : 'warn',
      title: `The ${role} on ${host} is not seen`,
      explanation: `Process ${pid} reports every minute and has stopped without ending as intended. What it had in hand is due again when its leases end. Check its log, then start it again.`,
      since: seenAt,
      command: role === 'worker' ? 'strongroom worker' : 'strongroom serve',
    }))
}

export function backupProblem(on: {
  store: Pick<Store, 'kind'>
  backup: LastBackup | undefined
  /** When the store was created, as far as that is known. */
  storeSince: number | undefined
  now: number
}): Problem | undefined {
  const { store, backup, storeSince, now } = on
  const command = `strongroom backup strongroom-${new Date(now).toISOString().slice(0, 10)}.backup`
  if (backup) {
    const at = Date.parse(backup.at)
    if (now - at <= MAX_BACKUP_AGE_MS) return undefined
    return {
      severity: 'bad',
      title: `No backup since ${dayOf(at, now)}`,
      explanation: `The last one finished at ${backup.at.slice(11, 16)} UTC. One a day is expected: schedule the command, and store the file and the master key on different machines.`,
      since: at + DAY_MS,
      page: '/docs/guides/operations#backup',
      command,
    }
  }
  if (store.kind !== 'embedded' || storeSince === undefined || now - storeSince <= DAY_MS) {
    return undefined
  }
  return {
    severity: 'warn',
    title: 'There is no backup',
    explanation:
      'Everything is on one disk, and the command has never copied it. Schedule it once a day, and store the file and the master key on different machines.',
    since: storeSince + DAY_MS,
    page: '/docs/guides/operations#backup',
    command,
  }
}

const MIN_REQUESTS = 20
const MAX_ERROR_SHARE = 0.05

/** Of a service in the last minutes. */
export function errorProblem(
  title: string,
  { requests, errors }: { requests: number; errors: number },
): Problem | undefined {
  if (requests < MIN_REQUESTS || errors / requests < MAX_ERROR_SHARE) return undefined
  return {
    severity: 'bad',
    title: `${title} fails ${Math.round((errors / requests) * 100)} % of requests`,
    explanation: `${errors} of ${requests} requests in the last five minutes got a response with 5xx. The log has the reason of each: look for the error code and the request id.`,
  }
}

export function diskProblem(
  disk: StorageStatus['disk'],
  growthPerDay: number | undefined,
): Problem | undefined {
  if (!disk) return undefined
  const { freeBytes, totalBytes } = disk
  const isLow = freeBytes < MIN_FREE_BYTES || freeBytes / totalBytes < MIN_FREE_SHARE
  if (!isLow) return undefined
  const days = growthPerDay ? Math.floor(freeBytes / growthPerDay) : undefined
  return {
    severity: freeBytes < MIN_FREE_BYTES ? 'bad' : 'warn',
    title: 'The disk of the store is nearly full',
    explanation: `${gigabytes(freeBytes)} of ${gigabytes(totalBytes)} are free${days === undefined ? '' : `, enough for about ${days} days`}. Writes fail when it is full. Enlarge the volume, or delete other files on it.`,
    command: 'df -h',
  }
}

export function unreadyProblem(
  part: 'store' | 'KMS',
  on: { label: string; location: string; since: number },
): Problem {
  return {
    severity: 'bad',
    title: part === 'store' ? 'The store does not respond' : 'The KMS does not respond',
    explanation:
      part === 'store'
        ? `${on.label} at ${on.location} cannot be reached: no service can read or write.`
        : `${on.label}: keys cannot be unwrapped. What is cached works for a few minutes, then secrets cannot be read.`,
    since: on.since,
    command: part === 'store' ? 'strongroom tables verify' : 'strongroom kms status',
  }
}

export function kmsProblem(warning: string | undefined): Problem | undefined {
  if (warning === undefined) return undefined
  return {
    severity: 'warn',
    title: 'The embedded KMS is used with a DynamoDB endpoint',
    explanation: `${warning}.`,
    page: '/docs/guides/operations#development-on-dynamodb-local',
  }
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}

function dayOf(time: number, now: number): string {
  const isThisYear = new Date(time).getUTCFullYear() === new Date(now).getUTCFullYear()
  return new Date(time).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'long',
    ...(!isThisYear && { year: 'numeric' }),
    timeZone: 'UTC',
  })
}
