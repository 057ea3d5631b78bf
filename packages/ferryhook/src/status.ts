/** What operators should know about Ferryhook. */
import type { Problem, ServiceStatus } from '@strongroom/kit/service-status'
import type { ServiceDeps } from '@strongroom/kit/service'
import { createTroubledConnections } from './connections/troubled.ts'
import { OVERDUE_MS, readBacklog } from './queue/backlog.ts'
import type { Stores } from './stores.ts'

export function createFerryhookStatus(
  deps: Pick<ServiceDeps, 'db' | 'clock'> & { stores: Pick<Stores, 'shards' | 'queue'> },
): () => Promise<ServiceStatus> {
  const { clock, stores } = deps
  const readTroubled = createTroubledConnections(deps)
  return async () => {
    const [backlog, troubled] = await Promise.all([
      readBacklog({ ...stores, clock }),
      readTroubled(),
    ])
    const { overdue, oldestDueAt, isComplete } = backlog
    const { failing, failingSince, paused, waiting } = troubled
    const problems: Problem[] = []
    if (overdue > 0) {
      const number = `${isComplete ? '' : 'At least '}${numberOf(overdue, 'task')}`
      problems.push({
        severity: 'bad',
        title: `${number} ${overdue === 1 ? 'is' : 'are'} overdue`,
        explanation: `No worker has taken what has been due for more than ${OVERDUE_MS / 1000} seconds: events are received but not delivered. Start a worker, or more of them.`,
        since: oldestDueAt === undefined ? undefined : oldestDueAt + OVERDUE_MS,
        command: 'strongroom worker',
      })
    }
    if (failing > 0) {
      problems.push({
        severity: 'warn',
        title: `${numberOf(failing, 'connection')} ${failing === 1 ? 'fails' : 'fail'}`,
        explanation:
          'Every attempt since then was rejected or got no response. Deliveries are retried and then fail; owners are alerted.',
        since: failingSince,
        page: '/server/failing',
      })
    }
    const notes = [
      ...(overdue > 0 ? [`${overdue} overdue`] : []),
      ...(failing > 0 ? [`${numberOf(failing, 'connection')} failing`] : []),
      ...(paused > 0 ? [`${paused} paused`] : []),
    ]
    return {
      note: notes.length === 0 ? 'Nothing overdue, no connection failing' : notes.join(', '),
      problems,
      work: { ...backlog, waiting, isComplete: isComplete && troubled.isComplete },
    }
  }
}

function numberOf(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}
