/** The key store: the KMS, and branch keys with their versions and ages, problems first. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Job, listJobs } from '../../api/jobs.ts'
import { missingRole } from '../../api/operator-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { formatCount, formatNumber } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { param, setQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { listKeys, type ListedKey, MAX_KEYS } from './api.ts'
import { CreateDialog } from './create-dialog.tsx'
import { KeyDialog } from './key-dialog.tsx'
import { KeyTable } from './key-table.tsx'
import { KmsPanels } from './kms-panels.tsx'
import { RotateDialog, RotationPanel } from './rotation.tsx'

const REFRESH_MS = 30_000
const JOB_REFRESH_MS = 2_000
export const ROTATION = 'key-store.rotate-keys'
const DEFAULT_DAYS = 365

/** The age in `older=365d`; days only, because nobody rotates more often. */
export function chosenDays(): number | undefined {
  const [, days] = /^(\d{1,5})d$/.exec(param('older') ?? '') ?? []
  return days === undefined ? undefined : Number(days)
}

export function isOlder({ ageSeconds, problem }: ListedKey, days: number): boolean {
  return problem === undefined && (ageSeconds === null || ageSeconds >= days * 86_400)
}

export default function KeysPage() {
  const dialog = useSignal<'create' | 'rotate' | undefined>(undefined)
  const keys = useResource(listKeys, { everyMs: REFRESH_MS })
  const job = useResource<Job | undefined>(
    async (signal) =>
      (await listJobs({ limit: 20 }, signal)).items.find(({ kind }) => kind === ROTATION),
    { everyMs: JOB_REFRESH_MS },
  )
  const followed = useSignal<string | undefined>(undefined)
  const notAllowed = missingRole('editor', 'key-store')
  useKeys([
    { keys: 'n', label: 'Create key', run: () => !notAllowed && (dialog.value = 'create') },
    { keys: 'Escape', label: 'Close key', run: () => setQuery({ key: undefined }) },
  ])
  const data = keys.data.value
  const days = chosenDays() ?? DEFAULT_DAYS
  const old = data?.keys.filter((key) => isOlder(key, days)).length ?? 0
  const current = job.data.value
  const isShown = current?.state === 'running' || current?.id === followed.value
  const isRunning = current?.state === 'running'
  useEffect(() => {
    if (isRunning) followed.value = current.id
    // What it rotated has another age now.
    else if (followed.peek() !== undefined) keys.reload()
  }, [isRunning])
  return (
    <>
      <Bar
        title="Key store"
        note={data && formatCount(data.keys.length, 'branch key')}
        actions={
          <>
            <ActionButton
              notAllowed={notAllowed}
              label="Rotate old keys…"
              run={() => void (dialog.value = 'rotate')}
            >
              <Icon name="replay" />
              <span class="hide-small">Rotate old keys…</span>
            </ActionButton>
            <ActionButton
              look="primary"
              notAllowed={notAllowed}
              run={() => void (dialog.value = 'create')}
            >
              <Icon name="plus" />
              <span>Create key</span>
            </ActionButton>
          </>
        }
      />
      <main id="main">
        <div class="page">
          {current && isShown && (
            <RotationPanel
              job={current}
              onChange={(changed) => {
                job.set(changed)
                keys.reload()
              }}
            />
          )}
          <KmsPanels />
          <Loaded resource={keys} what="branch keys">
            {({ keys: all, isCut }) =>
              all.length === 0 ? (
                <Empty
                  title="No branch keys"
                  command="strongroom keys create"
                  actions={
                    <ActionButton
                      look="primary"
                      notAllowed={notAllowed}
                      run={() => void (dialog.value = 'create')}
                    >
                      <span>Create key</span>
                    </ActionButton>
                  }
                >
                  Services create one for each tenant when they store its first secret. You can
                  create keys for your own programs.
                </Empty>
              ) : (
                <section class="panel" aria-labelledby="h-keys">
                  <div class="panel-head">
                    <h2 id="h-keys">Branch keys</h2>
                    <p class="hide-small">Problems first, then the oldest</p>
                    <span class="push" />
                    <Filters keys={all} days={days} />
                  </div>
                  <KeyTable keys={shownKeys(all)} days={days} onRotated={keys.reload} />
                  {isCut && (
                    <p class="panel-foot">
                      The first {formatNumber(MAX_KEYS)} keys. List all with{' '}
                      <code>strongroom keys list</code>.
                    </p>
                  )}
                </section>
              )
            }
          </Loaded>
        </div>
      </main>
      {param('key') !== undefined && <KeyDialog id={param('key') ?? ''} onRotated={keys.reload} />}
      {dialog.value === 'create' && (
        <CreateDialog
          onClose={() => (dialog.value = undefined)}
          onCreated={(id) => {
            keys.reload()
            setQuery({ key: id })
          }}
        />
      )}
      {dialog.value === 'rotate' && (
        <RotateDialog
          days={days}
          count={old}
          countOlder={(than) => data?.keys.filter((key) => isOlder(key, than)).length ?? 0}
          onClose={() => (dialog.value = undefined)}
          onStarted={(started) => {
            followed.value = started.id
            job.set(started)
          }}
        />
      )}
    </>
  )
}

function shownKeys(all: readonly ListedKey[]): ListedKey[] {
  if (param('older') === 'unreadable') return all.filter(({ problem }) => problem !== undefined)
  const days = chosenDays()
  return days === undefined ? [...all] : all.filter((key) => isOlder(key, days))
}

function Filters({ keys, days }: { keys: readonly ListedKey[]; days: number }) {
  const older = param('older')
  const unreadable = keys.filter(({ problem }) => problem !== undefined).length
  const choices = [
    { name: 'All', count: keys.length, value: undefined },
    {
      name: `Over ${formatNumber(days)} days`,
      count: keys.filter((key) => isOlder(key, days)).length,
      value: `${days}d`,
    },
    ...(unreadable > 0 || older === 'unreadable'
      ? [{ name: 'Unreadable', count: unreadable, value: 'unreadable' }]
      : []),
  ]
  return (
    <div class="seg" role="group" aria-label="Show">
      {choices.map(({ name, count, value }) => (
        <button
          key={name}
          type="button"
          aria-pressed={older === value}
          onClick={() => setQuery({ older: value })}
        >
          {name} {formatNumber(count)}
        </button>
      ))}
    </div>
  )
}
