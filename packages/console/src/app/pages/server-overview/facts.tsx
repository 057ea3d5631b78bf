/** Work, storage and the server itself, as panels of facts. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { CopyId } from '../../parts/copy.tsx'
import { formatBytes, formatCount, formatDay, formatNumber } from '../../parts/format.ts'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import type { ServerStatus } from './api.ts'

/** Tables with a line of their own; the others are summed up. */
const MAX_TABLES = 4
const MAX_BACKUP_AGE_MS = 25 * 3_600_000

function Panel(props: { title: string; note?: ComponentChildren; children: ComponentChildren }) {
  const id = useId()
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{props.title}</h2>
        {props.note !== undefined && <p class="push num">{props.note}</p>}
      </div>
      {props.children}
    </section>
  )
}

export function WorkPanel({ status: { work, processes } }: { status: ServerStatus }) {
  return (
    <Panel title="Work">
      {work && (
        <div class="panel-body form">
          <dl class="facts facts-num">
            <dt>Due now</dt>
            <dd>{atLeast(work.due, work.isComplete)}</dd>
            <dt>Waiting</dt>
            <dd>
              {formatNumber(work.waiting)}{' '}
              <span class="faint">for failing or paused connections</span>
            </dd>
            <dt>Overdue</dt>
            <dd>
              {work.overdue === 0 ? (
                '0'
              ) : (
                <Status status="overdue">{atLeast(work.overdue, work.isComplete)}</Status>
              )}{' '}
              {work.overdue > 0 && work.oldestDueAt !== null && (
                <span class="faint">
                  oldest <RelativeTime time={work.oldestDueAt} />
                </span>
              )}
            </dd>
          </dl>
        </div>
      )}
      <table class="table table-tight">
        <thead>
          <tr>
            <th>Process</th>
            <th class="right">In hand</th>
            <th class="right">Seen</th>
          </tr>
        </thead>
        <tbody>
          {processes.map(({ role, host, pid, version, inHand, seenAt, state }) => (
            <tr key={`${host} ${pid} ${seenAt}`}>
              <td>
                {role} on <span title={`Process ${pid}`}>{host}</span>{' '}
                <span class="second">{version}</span>
              </td>
              <td class="right">{formatNumber(inHand)}</td>
              <td class={state === 'running' ? 'right' : 'right st-text is-bad strong'}>
                <RelativeTime time={seenAt} suffix=" ago" />
              </td>
            </tr>
          ))}
          {processes.length === 0 && (
            <tr>
              <td class="soft" colSpan={3}>
                No process has reported in the last day
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </Panel>
  )
}

function atLeast(count: number, isComplete: boolean): string {
  return isComplete ? formatNumber(count) : `${formatNumber(count)} or more`
}

export function StoragePanel({ storage }: { storage: ServerStatus['storage'] }) {
  if (!storage) {
    return (
      <Panel title="Storage">
        <div class="panel-body soft">The store does not say how large it is.</div>
      </Panel>
    )
  }
  const { totalBytes, freeBytes, growthPerDayBytes, bytes } = storage
  const used = totalBytes === null || freeBytes === null ? null : totalBytes - freeBytes
  const named = storage.tables.slice(0, MAX_TABLES)
  const others = storage.tables.slice(MAX_TABLES)
  const rest = others.reduce((sum, table) => sum + table.bytes, 0)
  const parts = [
    ...named.map((table) => ({ name: table.name, bytes: table.bytes })),
    ...(others.length > 0
      ? [{ name: formatCount(others.length, 'other table'), bytes: rest }]
      : []),
  ]
  return (
    <Panel
      title="Storage"
      note={
        used === null || totalBytes === null
          ? undefined
          : `${formatBytes(used)} of ${formatBytes(totalBytes)} used`
      }
    >
      <div class="panel-body form">
        <Disk
          parts={parts}
          total={totalBytes ?? parts.reduce((sum, part) => sum + part.bytes, 0)}
          used={used}
        />
        <ul class="legend legend-list">
          {parts.map((part, index) => (
            <li key={part.name}>
              <Swatch index={index} />
              <span class="cut">{part.name}</span>
              <b class="push">{formatBytes(part.bytes)}</b>
            </li>
          ))}
        </ul>
        <p class="hint">{growthText(growthPerDayBytes, freeBytes, bytes)}</p>
      </div>
    </Panel>
  )
}

function growthText(perDay: number | null, free: number | null, bytes: number | null): string {
  const size =
    bytes === null
      ? ''
      : `The store has ${formatBytes(bytes)} on disk; sizes of tables are estimates. `
  if (perDay === null) return size.trim()
  if (perDay < 1) return `${size}It did not grow in the last day.`
  const days = free === null ? undefined : Math.floor(free / perDay)
  const end =
    days === undefined || days > 3_650 ? '' : `: full in about ${formatCount(days, 'day')}`
  return `${size}Grows by ${formatBytes(Math.round(perDay))} a day${end}.`
}

function Disk(props: { parts: readonly { bytes: number }[]; total: number; used: number | null }) {
  const { parts, total, used } = props
  const scale = total > 0 ? 100 / total : 0
  let at = 0
  const label =
    used === null ? 'Sizes of tables' : `${formatBytes(used)} of ${formatBytes(total)} used`
  return (
    <svg class="disk" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect class="disk-free" width="100" height="8" />
      {used !== null && <rect class="f-mute" width={used * scale} height="8" />}
      {parts.map((part, index) => {
        const x = at
        at += part.bytes * scale
        return (
          <rect class={`f-${index + 1}`} key={index} x={x} width={part.bytes * scale} height="8" />
        )
      })}
    </svg>
  )
}

function Swatch({ index }: { index: number }) {
  return (
    <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
      <rect width="10" height="10" style={{ '--swatch': `var(--step-${index + 1})` }} />
    </svg>
  )
}

export function ServerPanel({ status }: { status: ServerStatus }) {
  const { version, startedAt, address, store, kms, backup, storage } = status
  const isLate = backup !== null && Date.now() - Date.parse(backup.at) > MAX_BACKUP_AGE_MS
  return (
    <Panel title="Server">
      <div class="panel-body">
        <dl class="facts facts-num">
          <dt>Version</dt>
          <dd>{version}</dd>
          <dt>Started</dt>
          <dd>
            {formatDay(Date.parse(startedAt))}, <RelativeTime time={startedAt} suffix=" ago" />
          </dd>
          <dt>Address</dt>
          <dd>
            <CopyId id={address} what="address" full />
          </dd>
          <dt>Store</dt>
          <dd title={store.location}>
            <Status status={store.state} look={store.state === 'ready' ? 'quiet' : 'badge'}>
              {store.label}
            </Status>
          </dd>
          <dt>KMS</dt>
          <dd title={kms.location}>
            <Status status={kms.state} look={kms.state === 'ready' ? 'quiet' : 'badge'}>
              {kms.label}
            </Status>
          </dd>
          <dt>Last backup</dt>
          <dd title={backup?.file}>
            {backup === null ? (
              store.kind === 'embedded' ? (
                'None yet'
              ) : (
                'None by this command'
              )
            ) : (
              <span class={isLate ? 'st-text is-bad strong' : ''}>
                {formatDay(Date.parse(backup.at))}, <RelativeTime time={backup.at} suffix=" ago" />{' '}
                <span class="faint">{formatBytes(backup.bytes)}</span>
              </span>
            )}
          </dd>
          {storage?.recovery?.earliest && (
            <>
              <dt>Recovery log</dt>
              <dd>Back to {formatDay(Date.parse(storage.recovery.earliest))}</dd>
            </>
          )}
        </dl>
      </div>
    </Panel>
  )
}
