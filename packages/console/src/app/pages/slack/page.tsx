/** Two-key: Slack apps, their workspaces, and decisions as they happen. */
import { useSignal } from '@preact/signals'
import { missingRole } from '../../api/operator-session.ts'
import type { PageProps } from '../../pages.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { formatCount } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { navigate } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { listApps, type SlackApp } from './api.ts'
import { AppDialog } from './app-dialog.tsx'
import { AppPanels } from './app-panels.tsx'

const REFRESH_MS = 30_000

export default function SlackPage({ params }: PageProps) {
  const isAdding = useSignal(false)
  const apps = useResource(listApps, { everyMs: REFRESH_MS })
  const notAllowed = missingRole('admin', 'two-key')
  const { data } = apps
  return (
    <>
      <Bar
        title="Two-key"
        note={data.value && formatCount(data.value.length, 'Slack app')}
        actions={
          <ActionButton
            look={data.value?.length === 0 ? 'primary' : 'plain'}
            notAllowed={notAllowed}
            run={() => void (isAdding.value = true)}
          >
            <Icon name="plus" />
            <span>Add app</span>
          </ActionButton>
        }
      />
      <main id="main">
        <div class="page">
          <Loaded resource={apps} what="Slack apps">
            {(found) =>
              found.length === 0 ? (
                <Empty
                  title="No Slack apps"
                  command="strongroom slack app add NAME --upstream URL"
                  actions={
                    <ActionButton
                      look="primary"
                      notAllowed={notAllowed}
                      run={() => void (isAdding.value = true)}
                    >
                      <span>Add app</span>
                    </ActionButton>
                  }
                >
                  Two-key accepts a Slack request only if it is signed and its team, user and
                  channel exist, and forwards it to your app.
                </Empty>
              ) : (
                <Content apps={found} chosen={params['app']} onChange={apps.reload} />
              )
            }
          </Loaded>
        </div>
      </main>
      {isAdding.value && (
        <AppDialog
          onClose={() => (isAdding.value = false)}
          onSaved={(app) => {
            apps.reload()
            navigate(`/server/slack/${app.name}`)
          }}
        />
      )}
    </>
  )
}

function Content(props: {
  apps: readonly SlackApp[]
  chosen: string | undefined
  onChange: () => void
}) {
  const { apps, chosen, onChange } = props
  const app = chosen === undefined ? apps[0] : apps.find(({ name }) => name === chosen)
  return (
    <>
      <ul class="apps" aria-label="Slack apps">
        {apps.map((each) => (
          <li key={each.name}>
            <a
              class="app-item"
              href={`/console/server/slack/${each.name}`}
              aria-current={each === app ? 'true' : undefined}
            >
              <span class="app-name">
                <span class="strong cut">{each.name}</span>
                <span class="small faint">{each.appId ?? ''}</span>
              </span>
              <span class="small faint cut">{each.upstream.url}</span>
            </a>
          </li>
        ))}
      </ul>
      {app ? (
        <AppPanels app={app} key={app.name} onChange={onChange} />
      ) : (
        <Empty glyph="none" title="Slack app not found">
          It was deleted, or the address is wrong.
        </Empty>
      )}
    </>
  )
}
