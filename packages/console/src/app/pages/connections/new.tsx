/** A new connection: from which source, to which address. The secret is shown once. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { type Connection, destinationName, type Source, V1 } from '../../api/ferryhook.ts'
import { request } from '../../api/request.ts'
import { Field, fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { OnceSecretDialog } from '../../parts/once-secret.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { navigate, param, setQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'

type Created = Connection & { signingSecret: string }

export default function NewConnectionPage() {
  const resource = useResource((signal) =>
    request<{ items: Source[] }>('GET', `${V1}/sources`, { signal }),
  )
  return (
    <>
      <Bar
        title="New connection"
        parent={{ label: 'Connections', href: '/console/connections' }}
        actions={
          <a class="button button-quiet" href="/console/connections">
            <span>Cancel</span>
          </a>
        }
      />
      <main id="main">
        <div class="page page-narrow">
          <Loaded resource={resource} what="sources">
            {({ items }) => (items.length === 0 ? <NoSource /> : <NewForm sources={items} />)}
          </Loaded>
        </div>
      </main>
    </>
  )
}

function NoSource() {
  return (
    <div class="panel">
      <Empty
        title="A connection needs a source"
        actions={
          <a class="button button-primary" href="/console/sources/new">
            <span>New source</span>
          </a>
        }
      >
        The source receives the events that the connection delivers.
      </Empty>
    </div>
  )
}

function NewForm({ sources }: { sources: readonly Source[] }) {
  const chosen = sources.find(({ id }) => id === param('source')) ?? sources[0]
  const kind = useSignal<'test' | 'own'>('own')
  const url = useSignal('')
  const name = useSignal('')
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const created = useSignal<Created | undefined>(undefined)
  const destinationUrl = kind.value === 'test' ? 'test:200' : url.value.trim()
  const defaultName = kind.value === 'test' ? 'Test destination' : destinationName(destinationUrl)

  const create = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value || !chosen) return
    isBusy.value = true
    error.value = undefined
    try {
      const json = { name: name.value.trim() || defaultName, destinationUrl }
      const path = `${V1}/sources/${chosen.id}/connections`
      created.value = await request<Created>('POST', path, { json })
    } catch (thrown) {
      error.value = thrown
    } finally {
      isBusy.value = false
    }
  }
  const urlProblem = fieldProblem(error.value, 'destinationUrl')
  const nameProblem = fieldProblem(error.value, 'name')
  return (
    <>
      <form class="panel" onSubmit={(event) => void create(event)}>
        <div class="panel-body form">
          <Field label="Source">
            {(ids) => (
              <select
                {...ids}
                class="select"
                value={chosen?.id}
                onChange={(event) =>
                  setQuery({ source: event.currentTarget.value }, { replace: true })
                }
              >
                {sources.map((source) => (
                  <option value={source.id} key={source.id}>
                    {source.name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <fieldset class="choices choices-two">
            <legend class="label">Deliver to</legend>
            <label class="choice">
              <input
                type="radio"
                name="kind"
                checked={kind.value === 'own'}
                onChange={() => (kind.value = 'own')}
              />
              <span>My own address</span>
            </label>
            <label class="choice">
              <input
                type="radio"
                name="kind"
                checked={kind.value === 'test'}
                onChange={() => (kind.value = 'test')}
              />
              <span>The built-in test destination</span>
            </label>
          </fieldset>
          {kind.value === 'own' ? (
            <TextField
              label="URL"
              class="input mono"
              inputMode="url"
              required
              spellcheck={false}
              maxLength={2048}
              placeholder="https://shop.example.com/hooks"
              value={url.value}
              onInput={(value) => (url.value = value)}
              hint="A public https address. Redirects are not followed."
              problem={urlProblem}
            />
          ) : (
            <p class="hint">
              It accepts every event with status 200 and records what it received. You can change
              the address later.
            </p>
          )}
          <TextField
            label="Name"
            maxLength={100}
            placeholder={defaultName}
            value={name.value}
            onInput={(value) => (name.value = value)}
            problem={nameProblem}
          />
          {error.value !== undefined && urlProblem === undefined && nameProblem === undefined && (
            <Problem>{messageOf(error.value)}</Problem>
          )}
          <div class="buttons">
            <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
              <span>Create connection</span>
            </button>
          </div>
        </div>
      </form>
      {created.value && (
        <OnceSecretDialog
          title="The signing secret of this connection"
          text="Your destination verifies deliveries with it, using any Standard Webhooks library. It is not shown again on creation; an admin can rotate it later."
          secret={created.value.signingSecret}
          onClose={() => navigate(`/connections/${created.value?.id}/setup`, { force: true })}
        />
      )}
    </>
  )
}
