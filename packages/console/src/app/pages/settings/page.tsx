/** The settings that this server runs with. They are environment variables, so nothing is changed here. */
import { useId, useRef } from 'preact/hooks'
import type { SettingView } from '@strongroom/server/settings-routes'
import { request } from '../../api/request.ts'
import { Command } from '../../parts/copy.tsx'
import { formatCount } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { param, setQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { useKeys } from '../../shell/keyboard.ts'

const TITLES: Readonly<Record<string, string>> = {
  sealed: 'Sealed',
  ferryhook: 'Ferryhook',
  'form-bridge': 'Form-Bridge',
  'key-store': 'Key store',
  'two-key': 'Two-key',
}

export default function SettingsPage() {
  const settings = useResource((signal) =>
    request<{ items: SettingView[] }>('GET', '/server/v1/settings', { as: 'operator', signal }),
  )
  const field = useRef<HTMLInputElement>(null)
  useKeys([{ keys: '/', label: 'Filter', run: () => field.current?.focus() }])
  const items = settings.data.value?.items ?? []
  const text = (param('q') ?? '').toLowerCase()
  const only = param('show') === 'set'
  const found = items.filter(
    ({ name, description, isSet }) =>
      (!only || isSet) && `${name} ${description}`.toLowerCase().includes(text),
  )
  const changed = items.filter(({ isSet }) => isSet).length
  return (
    <>
      <Bar
        title="Settings"
        note={settings.data.value && `${formatCount(items.length, 'setting')}, ${changed} set`}
      />
      <main id="main">
        <form
          class="filters filters-wrap"
          role="search"
          aria-label="Filter settings"
          onSubmit={(event) => event.preventDefault()}
        >
          <div class="query">
            <Icon name="search" />
            <input
              ref={field}
              type="text"
              aria-label="Filter by name or description"
              placeholder="Filter by name or description"
              value={param('q') ?? ''}
              onInput={(event) => setQuery({ q: event.currentTarget.value }, { replace: true })}
            />
            <kbd>/</kbd>
          </div>
          <div class="seg" role="group" aria-label="Show">
            <button
              type="button"
              aria-pressed={!only}
              onClick={() => setQuery({ show: undefined })}
            >
              All
            </button>
            <button type="button" aria-pressed={only} onClick={() => setQuery({ show: 'set' })}>
              Set
            </button>
          </div>
        </form>
        <Loaded resource={settings} what="the settings">
          {() => (
            <div class="page">
              <p class="soft small">
                Settings are environment variables of the server, so they change with a restart.
                Values of secrets are never shown.
              </p>
              {found.length === 0 ? (
                <Empty
                  glyph="none"
                  title="No setting matches the filter"
                  actions={
                    <button
                      class="button button-primary"
                      type="button"
                      onClick={() => setQuery({ q: undefined, show: undefined })}
                    >
                      <span>Remove the filter</span>
                    </button>
                  }
                />
              ) : (
                [...Map.groupBy(found, ({ service }) => service)].map(([service, group]) => (
                  <Group
                    key={service ?? ''}
                    title={service === null ? 'Server' : (TITLES[service] ?? service)}
                    settings={group}
                  />
                ))
              )}
              <Command text="strongroom config" />
            </div>
          )}
        </Loaded>
      </main>
    </>
  )
}

function Group({ title, settings }: { title: string; settings: readonly SettingView[] }) {
  const id = useId()
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        <p>{formatCount(settings.length, 'setting')}</p>
      </div>
      <div class="table-wrap">
        <table class="table table-cards table-settings">
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">Value</th>
              <th scope="col">Source</th>
            </tr>
          </thead>
          <tbody>
            {settings.map((setting) => (
              <tr key={setting.name}>
                <td class="card-main">
                  <code class="strong">{setting.name}</code>
                  <p class="second">{setting.description}</p>
                </td>
                <td class="setting-value" data-name="Value">
                  <Value setting={setting} />
                </td>
                <td class="soft fit" data-name="Source">
                  {setting.isSet ? (setting.source === 'file' ? 'File' : 'Environment') : 'Default'}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function Value({ setting }: { setting: SettingView }) {
  const { value, secret, isSet } = setting
  if (secret) return <span class="soft">{isSet ? 'Set, not shown' : 'Not set'}</span>
  if (value === null || value === '') return <span class="faint">Not set</span>
  return <code class={isSet ? 'strong' : 'soft'}>{value}</code>
}
