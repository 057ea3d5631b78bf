/** One branch key: its versions, its context, and what cannot be read. */
import { missingRole } from '../../api/operator-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command, CopyId } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { setQuery } from '../../router.ts'
import { showToast } from '../../shell/toasts.tsx'
import { formatAge, getKey, type KeyDetails, rotateKey } from './api.ts'

export function KeyDialog({ id, onRotated }: { id: string; onRotated: () => void }) {
  const key = useResource((signal) => getKey(id, signal))
  const close = () => setQuery({ key: undefined })
  return (
    <Dialog
      title={id}
      onClose={close}
      wide
      foot={
        <>
          <button class="button" type="button" onClick={close}>
            <span>Close</span>
          </button>
          <ActionButton
            look="primary"
            notAllowed={missingRole('editor', 'key-store')}
            run={async () => {
              await rotateKey(id)
              showToast({ text: `${id} has a new version` })
              key.reload()
              onRotated()
            }}
          >
            <span>Rotate key</span>
          </ActionButton>
        </>
      }
    >
      <Loaded resource={key} what="this key">
        {(found) => <Details found={found} />}
      </Loaded>
      <Command text={`strongroom keys rotate ${quote(id)}`} />
    </Dialog>
  )
}

function Details({ found }: { found: KeyDetails }) {
  const { active, versions, beacon, unreadable, foreignItems } = found
  const context = Object.entries(active?.encryptionContext ?? {})
  return (
    <>
      {unreadable.map(({ type, problem }) => (
        <div class="notice is-bad" key={type}>
          <div class="notice-text">
            <strong>
              <Status status="unreadable">{type}</Status>
            </strong>
            <p>{problem}</p>
          </div>
        </div>
      ))}
      <dl class="facts">
        <dt>Context</dt>
        <dd class="mono">
          {context.length === 0
            ? 'None'
            : context.map(([name, value]) => `${name}=${value}`).join(', ')}
        </dd>
        <dt>KMS key</dt>
        <dd>{active ? <CopyId id={active.kmsArn} what="ARN" /> : 'Missing, or cannot be read'}</dd>
        <dt>Beacon key</dt>
        <dd>{beacon ? formatAge(beacon.ageSeconds) : 'Missing, or cannot be read'}</dd>
        {foreignItems > 0 && (
          <>
            <dt>Other items</dt>
            <dd>{foreignItems} of other programs under this id</dd>
          </>
        )}
      </dl>
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th>Version</th>
              <th class="right">Age</th>
              <th>State</th>
            </tr>
          </thead>
          <tbody>
            {versions.map(({ version, active: isActive, ageSeconds, createTime }) => (
              <tr key={version}>
                <td>
                  <CopyId id={version} what="version" />
                </td>
                <td class="right nowrap" title={createTime}>
                  {formatAge(ageSeconds)}
                </td>
                <td class="fit">
                  {isActive ? (
                    <Status status="active" look="quiet" />
                  ) : (
                    <span class="faint">Decrypts only</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

/** For a shell. */
function quote(id: string): string {
  return /^[\w.:@/-]+$/.test(id) ? id : `'${id.replaceAll("'", `'\\''`)}'`
}
