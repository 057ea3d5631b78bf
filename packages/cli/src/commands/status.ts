/** `strongroom status`: the state of a server, problems first. */
import type { ServerStatusView } from '@strongroom/server/status/routes'
import { systemClock } from '@strongroom/platform/clock'
import { createServiceClient, requiredServerOption } from '../api-client.ts'
import type { Command } from '../command.ts'
import { columns, escapeControls, formatRelative } from '../output.ts'

const FAILED = 1

const status: Command = {
  name: 'status',
  kind: 'client',
  summary: 'Show what is ready, what is due and what is wrong, with the commands that fix it',
  options: requiredServerOption,
  about: 'Exits with 1 if something does not work. Warnings alone are not a failure.',
  async run(input) {
    const api = createServiceClient(input, 'server')
    const found = await api<ServerStatusView>('GET', '/status')
    input.output.result(text(found), found)
    return found.problems.some(({ severity }) => severity === 'bad') ? FAILED : 0
  },
}

function text(found: ServerStatusView): string {
  return [problemLines(found), serviceLines(found), factLines(found)].filter(Boolean).join('\n')
}

function problemLines({ problems }: ServerStatusView): string {
  return problems
    .map(({ severity, title, explanation, since, command }) => {
      const age = since === null ? '' : ` (since ${formatRelative(since, systemClock.now())})`
      const lines = [
        `${severity === 'bad' ? 'PROBLEM' : 'Warning'}  ${title}${age}`,
        `         ${explanation}`,
        ...(command === null ? [] : [`         $ ${command}`]),
      ]
      return lines.map((line) => `${escapeControls(line)}\n`).join('')
    })
    .join('')
}

const STATES = { ready: 'ready', degraded: 'degraded', not_ready: 'NOT READY' } as const

function serviceLines({ services }: ServerStatusView): string {
  return columns(
    services.map(({ title, state, note }) => [title, STATES[state], escapeControls(note ?? '')]),
  )
}

function factLines(found: ServerStatusView): string {
  const { work, storage, backup, processes, store, kms } = found
  const now = systemClock.now()
  const workers = processes.map(
    ({ role, host, pid, state, seenAt }) =>
      `${role} ${host}/${pid} ${state === 'running' ? 'seen' : 'NOT SEEN since'} ${formatRelative(seenAt, now)}`,
  )
  const rows: [name: string, value: string][] = [
    ['Version', `${found.version}, started ${formatRelative(found.startedAt, now)}`],
    ['Address', found.address],
    ['Store', `${store.label}, ${store.location}, ${STATES[store.state]}`],
    ['KMS', `${kms.label}, ${STATES[kms.state]}`],
    ...workers.map((line, at): [string, string] => [at === 0 ? 'Processes' : '', line]),
    ...(work
      ? [
          [
            'Work',
            `${work.isComplete ? '' : 'at least '}${work.due} due, ${work.overdue} overdue, ${work.waiting} waiting`,
          ] as [string, string],
        ]
      : []),
    ...(storage?.bytes !== null && storage?.bytes !== undefined
      ? [
          [
            'Disk',
            `${gigabytes(storage.bytes)} used by the store, ${gigabytes(storage.freeBytes ?? 0)} of ${gigabytes(storage.totalBytes ?? 0)} free`,
          ] as [string, string],
        ]
      : []),
    ['Last backup', backup ? `${formatRelative(backup.at, now)}, ${backup.file}` : 'none'],
    ...(storage?.recovery?.earliest
      ? [['Recovery', `back to ${storage.recovery.earliest}`] as [string, string]]
      : []),
  ]
  return columns(rows.map(([name, value]) => [name, escapeControls(value)]))
}

function gigabytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}

export const commands: readonly Command[] = [status]
