/** The server's own secrets: versions and ages, never values; rotation says what it ends. */
import { useSignal } from '@preact/signals'
import { missingRole } from '../../api/operator-session.ts'
import { request } from '../../api/request.ts'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { formatCount } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { Bar } from '../../shell/bar.tsx'
import { showToast } from '../../shell/toasts.tsx'

interface SecretVersion {
  name: string
  version: number
  createdAt: string
  activeFrom: string
  acceptedUntil: string | null
}

/** What was made with each secret, so that people know what a rotation ends. */
const USES: Readonly<Record<string, string>> = {
  'server-cursors': 'Cursors of the audit log',
  'form-bridge-cursors': 'Cursors of the lists of Form-Bridge',
  'form-bridge-addresses': 'Pseudonyms of addresses in the limits of Form-Bridge',
  'form-bridge-downloads': 'Links to downloads of the plugin',
  'key-store-cursors': 'Cursors of the lists of branch keys',
  'ferryhook-cursors': 'Cursors of the lists of Ferryhook',
  'ferryhook-rates': 'Pseudonyms of addresses in the limits of Ferryhook',
  'ferryhook-sign-in': 'Sign-ins with GitHub and Google that are under way',
  'ferryhook-access-tokens': 'Access tokens of Ferryhook users, which last minutes',
  'sealed-token': 'Proofs of work and creation tokens of Sealed',
  'sealed-request': 'Requests for secrets of Sealed that were not filled yet',
}

const OVERLAPS = [
  { seconds: 30 * 86_400, label: '30 days' },
  { seconds: 86_400, label: '1 day' },
  { seconds: 0, label: 'none: older versions end immediately' },
] as const

export default function SecretsPage() {
  const secrets = useResource((signal) =>
    request<{ items: SecretVersion[] }>('GET', '/server/v1/secrets', { as: 'operator', signal }),
  )
  const rotating = useSignal<string | undefined>(undefined)
  const missing = missingRole('admin', 'server')
  const items = secrets.data.value?.items ?? []
  const names = Map.groupBy(items, ({ name }) => name)
  return (
    <>
      <Bar title="Server secrets" note={secrets.data.value && formatCount(names.size, 'secret')} />
      <main id="main">
        <Loaded resource={secrets} what="the server secrets">
          {() =>
            names.size === 0 ? (
              <Empty title="There are no server secrets yet" command="strongroom secrets list">
                Services create them when they are first needed, encrypted by the KMS.
              </Empty>
            ) : (
              <div class="page">
                <p class="soft small">
                  Keys of the server itself, encrypted by the KMS. Each is created when it is first
                  needed, and its value is never shown.
                </p>
                <section class="panel" aria-label="Server secrets">
                  <div class="table-wrap">
                    <table class="table table-cards">
                      <thead>
                        <tr>
                          <th scope="col">Secret</th>
                          <th scope="col">Version</th>
                          <th scope="col">Created</th>
                          <th scope="col">Older versions</th>
                          <th scope="col">
                            <span class="unseen">Actions</span>
                          </th>
                        </tr>
                      </thead>
                      <tbody>
                        {[...names].map(([name, versions]) => (
                          <Row
                            key={name}
                            name={name}
                            versions={versions}
                            missing={missing}
                            onRotate={() => (rotating.value = name)}
                          />
                        ))}
                      </tbody>
                    </table>
                  </div>
                </section>
              </div>
            )
          }
        </Loaded>
        {rotating.value !== undefined && (
          <RotateDialog
            name={rotating.value}
            onClose={() => (rotating.value = undefined)}
            onRotated={() => secrets.reload()}
          />
        )}
      </main>
    </>
  )
}

function Row(props: {
  name: string
  versions: readonly SecretVersion[]
  missing: string | undefined
  onRotate: () => void
}) {
  const { name, versions, missing, onRotate } = props
  const [newest, ...older] = versions.toSorted((a, b) => b.version - a.version)
  if (!newest) return null
  const until = older
    .flatMap(({ acceptedUntil }) => acceptedUntil ?? [])
    .toSorted()
    .at(-1)
  const isPending = Date.parse(newest.activeFrom) > Date.now()
  return (
    <tr>
      <td class="card-main">
        <code class="strong">{name}</code>
        {USES[name] !== undefined && <p class="second">{USES[name]}</p>}
      </td>
      <td data-name="Version">
        {newest.version}{' '}
        {isPending && (
          <span class="faint">
            in use in <RelativeTime time={newest.activeFrom} />
          </span>
        )}
      </td>
      <td data-name="Created">
        <RelativeTime time={newest.createdAt} suffix=" ago" />
      </td>
      <td class="soft" data-name="Older versions">
        {until === undefined ? (
          'None accepted'
        ) : (
          <>
            {formatCount(older.length, 'version')}, accepted for <RelativeTime time={until} />
          </>
        )}
      </td>
      <td class="right">
        <button
          class="button button-small"
          type="button"
          aria-label={`Rotate ${name}`}
          aria-disabled={missing !== undefined}
          title={missing}
          onClick={() => missing === undefined && onRotate()}
        >
          <Icon name="replay" />
          <span>Rotate…</span>
        </button>
      </td>
    </tr>
  )
}

function RotateDialog(props: { name: string; onClose: () => void; onRotated: () => void }) {
  const { name, onClose, onRotated } = props
  const overlap = useSignal<number>(OVERLAPS[0].seconds)
  const isImmediate = overlap.value === 0
  const made = USES[name] ?? 'What was made with older versions'
  return (
    <ConfirmDialog
      title={`Rotate ${name}`}
      confirm="Rotate secret"
      keep="Keep the version"
      isDestructive={isImmediate}
      consequences={
        isImmediate
          ? [
              'The new version is used immediately by every process within a minute.',
              `${made}: everything made with older versions stops working now.`,
            ]
          : [
              'The new version is used after two minutes, when every process knows it.',
              `${made}: what was made with older versions works until the overlap ends.`,
            ]
      }
      onConfirm={async () => {
        const path = `/server/v1/secrets/${encodeURIComponent(name)}/versions`
        const json = { overlapSeconds: overlap.value }
        const { version } = await request<SecretVersion>('POST', path, { as: 'operator', json })
        showToast({ text: `${name} has version ${version}` })
        onRotated()
      }}
      onClose={onClose}
    >
      <label class="field">
        <span class="label">Older versions are accepted for</span>
        <select
          class="select"
          value={String(overlap.value)}
          onChange={(event) => (overlap.value = Number(event.currentTarget.value))}
        >
          {OVERLAPS.map(({ seconds, label }) => (
            <option value={String(seconds)} key={seconds}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </ConfirmDialog>
  )
}
