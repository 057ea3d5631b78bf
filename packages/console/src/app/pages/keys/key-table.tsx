/** The list of branch keys. */
import { missingRole } from '../../api/operator-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { formatDuration } from '../../parts/format.ts'
import { Status } from '../../parts/status.tsx'
import { Empty } from '../../parts/states.tsx'
import { query, setQuery, withQuery } from '../../router.ts'
import { showToast } from '../../shell/toasts.tsx'
import { formatAge, type ListedKey, rotateKey } from './api.ts'
import { VersionsTrack } from './versions-track.tsx'

export function KeyTable(props: {
  keys: readonly ListedKey[]
  days: number
  onRotated: () => void
}) {
  const { keys, days, onRotated } = props
  const notAllowed = missingRole('editor', 'key-store')
  if (keys.length === 0)
    return (
      <Empty
        glyph="none"
        title="No keys match"
        actions={
          <button class="button" type="button" onClick={() => setQuery({ older: undefined })}>
            <span>Show all keys</span>
          </button>
        }
      >
        No branch key is older than {formatDuration(days * 86_400_000)}.
      </Empty>
    )
  return (
    <div class="table-wrap">
      <table class="table table-cards table-keys">
        <thead>
          <tr>
            <th>Key</th>
            <th class="right">Versions</th>
            <th class="versions-head">
              <span>
                <span>2 years</span>
                <span>1 year</span>
                <span>Now</span>
              </span>
            </th>
            <th class="right">Active for</th>
            <th>State</th>
            <th>
              <span class="unseen">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((item) => {
            const isOld = (item.ageSeconds ?? Number.MAX_SAFE_INTEGER) >= days * 86_400
            const state = item.problem !== undefined ? 'unreadable' : isOld ? 'old' : 'active'
            return (
              <tr key={item.id}>
                <td class="card-main">
                  <a class="link mono" href={keyHref(item.id)}>
                    {item.id}
                  </a>
                  {item.context !== '' && <p class="second">{item.context}</p>}
                </td>
                <td class="right card-none">{item.key?.versions?.length ?? '–'}</td>
                <td class="card-wide">
                  <VersionsTrack item={item} isOld={isOld} />
                </td>
                <td class="right nowrap" data-name="Active for">
                  {formatAge(item.ageSeconds)}
                </td>
                <td class="fit">
                  <Status status={state} look="quiet" />
                </td>
                <td class="fit">
                  {item.problem === undefined ? (
                    <ActionButton
                      small
                      notAllowed={notAllowed}
                      label={`Rotate ${item.id}`}
                      run={async () => {
                        await rotateKey(item.id)
                        showToast({ text: `${item.id} has a new version` })
                        onRotated()
                      }}
                    >
                      <span>Rotate</span>
                    </ActionButton>
                  ) : (
                    <a class="button button-small" href={keyHref(item.id)}>
                      <span>Show why</span>
                    </a>
                  )}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function keyHref(id: string): string {
  const parameters = new URLSearchParams(query.value)
  parameters.set('key', id)
  return withQuery('/console/server/keys', parameters)
}
