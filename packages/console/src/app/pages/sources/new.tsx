/** A new source in three steps: provider, secret, first event. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { type Source, V1 } from '../../api/ferryhook.ts'
import { request } from '../../api/request.ts'
import { Icon } from '../../parts/icon.tsx'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { navigate, param, setQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { FirstEvent } from './first-event.tsx'
import { providerOf } from './providers.ts'
import { ProviderStep } from './provider-step.tsx'
import { SecretStep } from './secret-step.tsx'

export default function NewSourcePage() {
  const sourceId = param('source')
  return (
    <>
      <Bar
        title="New source"
        parent={{ label: 'Sources', href: '/console/sources' }}
        actions={
          <a class="button button-quiet" href={`/console/sources${sourceId ? `/${sourceId}` : ''}`}>
            <span>{sourceId ? 'Finish later' : 'Cancel'}</span>
          </a>
        }
      />
      <main id="main">
        <div class="page page-narrow">
          {sourceId === undefined ? <BeforeCreation /> : <AfterCreation sourceId={sourceId} />}
        </div>
      </main>
    </>
  )
}

/** Steps 1 and 2. The provider is in the address; the name stays while one goes back and forth. */
function BeforeCreation() {
  const provider = providerOf(param('provider'))
  const name = useSignal('')
  const step = param('step') === '2' && provider ? 2 : 1
  const done = (source: Source) =>
    navigate(`/sources/new?step=3&source=${source.id}`, { replace: true, force: true })
  return (
    <ol class="wizard">
      <Step
        number={1}
        title="Provider"
        state={step === 1 ? 'now' : 'done'}
        summary={provider && `${provider.name}, named “${name.value || provider.name}”`}
        onChange={() => setQuery({ step: '1' })}
      >
        <ProviderStep name={name} onDone={(id) => setQuery({ step: '2', provider: id })} />
      </Step>
      <Step number={2} title="Secret" state={step === 2 ? 'now' : 'later'}>
        {provider && <SecretStep provider={provider} name={name.value} onCreated={done} />}
      </Step>
      <Step number={3} title="First event" state="later" />
    </ol>
  )
}

/** Step 3. The source exists, so a reload comes back to it. */
function AfterCreation({ sourceId }: { sourceId: string }) {
  const resource = useResource((signal) =>
    request<Source>('GET', `${V1}/sources/${sourceId}`, { signal }),
  )
  return (
    <Loaded resource={resource} what="the source">
      {(source) => (
        <ol class="wizard">
          <Step
            number={1}
            title="Provider"
            state="done"
            summary={`${providerOf(source.provider)?.name ?? source.provider}, named “${source.name}”`}
          />
          <Step number={2} title="Secret" state="done" summary={verificationOf(source)} />
          <Step number={3} title="First event" state="now">
            <FirstEvent source={source} />
          </Step>
        </ol>
      )}
    </Loaded>
  )
}

export function verificationOf({ provider, verifies }: Source): string {
  if (!verifies) return 'Not verified: anybody who knows the address can send events'
  return `Verified by ${providerOf(provider)?.verifiedBy ?? 'a signature'}`
}

function Step(props: {
  number: number
  title: string
  state: 'now' | 'done' | 'later'
  summary?: string | undefined
  onChange?: () => void
  children?: ComponentChildren
}) {
  const { number, title, state, summary, onChange } = props
  return (
    <li class={`wiz is-${state}`} aria-current={state === 'now' ? 'step' : undefined}>
      <span class="wiz-mark">{state === 'done' ? <Icon name="check" /> : number}</span>
      <div class="wiz-body">
        <div class="wiz-head">
          <h2>{title}</h2>
          {state === 'done' && summary !== undefined && <span class="soft">{summary}</span>}
          {state === 'done' && onChange && (
            <button class="button button-small button-quiet" type="button" onClick={onChange}>
              <span>Change</span>
            </button>
          )}
        </div>
        {state === 'now' && props.children}
      </div>
    </li>
  )
}
