/** Releases of the plugin: publish a signed package, withdraw one, and which versions are in use. */
import { useSignal } from '@preact/signals'
import { type AdoptionDays, PLUGIN, type ReleaseLine, releases } from '../../api/form-bridge.ts'
import { missingRole } from '../../api/operator-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command, CopyId } from '../../parts/copy.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { formatBytes, formatCount, formatDay, formatNumber } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status, ToneIcon } from '../../parts/status.tsx'
import { VersionsChart } from '../../parts/versions-chart.tsx'
import { Bar } from '../../shell/bar.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { PublishDialog } from './publish.tsx'

const ADOPTION_DAYS = 30

export default function ReleasesPage() {
  const list = useResource((abort) => releases.list(abort))
  const adoption = useResource((abort) => releases.adoption(ADOPTION_DAYS, abort))
  const isPublishing = useSignal(false)
  const withdrawn = useSignal<ReleaseLine | undefined>(undefined)
  const notAllowed = missingRole('editor', 'form-bridge')
  const publish = () => void (isPublishing.value = true)
  const items = list.data.value?.items
  return (
    <>
      <Bar
        title="Releases"
        note={items && formatCount(items.length, 'version')}
        actions={
          <ActionButton look="primary" run={publish} notAllowed={notAllowed}>
            <Icon name="upload" />
            <span>Publish release…</span>
          </ActionButton>
        }
      />
      <main id="main">
        <div class="page">
          <Loaded resource={list} what="releases">
            {({ items: found }) =>
              found.length === 0 ? (
                <section class="panel">
                  <NoReleases onPublish={publish} notAllowed={notAllowed} />
                </section>
              ) : (
                <>
                  {adoption.data.value && (
                    <div class="panel">
                      <VersionsChart
                        adoption={adoption.data.value}
                        releases={found}
                        title={`Sites by version, last ${ADOPTION_DAYS} days`}
                        hrefOf={(version) =>
                          `/console/server/sites?version=${encodeURIComponent(version)}`
                        }
                      />
                    </div>
                  )}
                  <section class="panel" aria-label="Versions">
                    <Table
                      items={found}
                      adoption={adoption.data.value}
                      onWithdraw={(release) => (withdrawn.value = release)}
                      notAllowed={notAllowed}
                    />
                    <div class="panel-foot panel-commands">
                      <Command text="strongroom plugin versions" />
                    </div>
                  </section>
                </>
              )
            }
          </Loaded>
        </div>
      </main>
      {isPublishing.value && (
        <PublishDialog
          newest={items?.[0]?.version}
          onClose={() => (isPublishing.value = false)}
          onDone={() => list.reload()}
        />
      )}
      {withdrawn.value && (
        <ConfirmDialog
          title={`Withdraw ${withdrawn.value.version}?`}
          confirm="Withdraw release"
          keep="Keep release"
          consequences={[
            'It is no longer offered to sites, and its package cannot be downloaded.',
            `${formatCount(sitesOn(adoption.data.value, withdrawn.value.version), 'site')} that checked today and have it keep it until they update.`,
            'This cannot be undone: its number cannot be used again. Publish a higher version instead.',
          ]}
          typeName={withdrawn.value.version}
          onConfirm={async () => {
            const version = withdrawn.value?.version ?? ''
            await releases.withdraw(version)
            list.reload()
            showToast({ text: `${version} is withdrawn` })
          }}
          onClose={() => (withdrawn.value = undefined)}
        >
          <Command text={`strongroom plugin withdraw ${withdrawn.value.version}`} />
        </ConfirmDialog>
      )}
    </>
  )
}

function sitesOn(adoption: AdoptionDays | undefined, version: string): number {
  const today = adoption?.days.at(-1)?.versions ?? {}
  return Object.hasOwn(today, version) ? (today[version] ?? 0) : 0
}

function Table(props: {
  items: readonly ReleaseLine[]
  adoption: AdoptionDays | undefined
  onWithdraw: (release: ReleaseLine) => void
  notAllowed: string | undefined
}) {
  const newest = props.items.find(({ status }) => status === 'published')
  return (
    <table class="table table-cards">
      <thead>
        <tr>
          <th>Version</th>
          <th>Status</th>
          <th>SHA-256</th>
          <th class="right">Size</th>
          <th class="right">Sites today</th>
          <th class="right">Published</th>
          <th class="right">
            <span class="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {props.items.map((release) => (
          <tr key={release.version}>
            <td class="card-main">
              <a
                class="link"
                href={`/console/server/sites?version=${encodeURIComponent(release.version)}`}
                title="Sites with this version"
              >
                {release.version}
              </a>{' '}
              {release === newest && <span class="faint small">newest</span>}
            </td>
            <td class="fit">
              {release.status === 'published' ? (
                <span class="st is-ok st-quiet">
                  <ToneIcon shape="check" tone="ok" />
                  <span class="st-word">Published</span>
                </span>
              ) : (
                <Status status="disabled">Withdrawn</Status>
              )}
            </td>
            <td class="fit card-none">
              <CopyId id={release.sha256} what="SHA-256" />
            </td>
            <td class="right soft fit" data-name="Size">
              {formatBytes(release.file_size)}
            </td>
            <td class="right fit" data-name="Sites today">
              {formatNumber(sitesOn(props.adoption, release.version))}
            </td>
            <td class="right soft fit" data-name="Published">
              {release.published_at === null ? '' : formatDay(Date.parse(release.published_at))}
            </td>
            <td class="right fit">
              {release.status === 'published' && (
                <ActionButton
                  small
                  look="danger"
                  run={() => props.onWithdraw(release)}
                  notAllowed={props.notAllowed}
                >
                  <span>Withdraw…</span>
                </ActionButton>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function NoReleases(props: { onPublish: () => void; notAllowed: string | undefined }) {
  return (
    <Empty
      title="No release yet"
      actions={
        <ActionButton look="primary" run={props.onPublish} notAllowed={props.notAllowed}>
          <Icon name="upload" />
          <span>Publish release…</span>
        </ActionButton>
      }
      command={`strongroom plugin publish ${PLUGIN}-1.0.0.zip`}
    >
      A release is a package of the plugin, signed with a key that this server does not have. Sites
      install it only if the signature matches.
    </Empty>
  )
}
