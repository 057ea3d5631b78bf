/** What a new account sees: what a source is for, and how to create the first one. */
import { Command } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { BASE } from '../../router.ts'

const STEPS = [
  ['Create a source', 'Choose the provider and paste the secret it signs with.'],
  [
    'See an event arrive',
    'Send one from the provider. It appears immediately, with its exact bytes.',
  ],
  ['Connect a destination', 'Filter, transform and try it on that event before anything is sent.'],
] as const

export function FirstRun() {
  return (
    <div class="page page-first">
      <section class="first panel" aria-labelledby="first">
        <div class="first-words">
          <svg class="empty-glyph" viewBox="0 0 24 24" aria-hidden="true">
            <path d="M15.5 3a1.75 1.75 0 1 1 0 3.5 1.75 1.75 0 0 1 0-3.5z" />
            <path d="M15.5 6.5v9a4.5 4.5 0 0 1-9 0v-3.5l3 2.5" />
          </svg>
          <h2 id="first">Receive your first webhook</h2>
          <p>
            A source gives you an address for a provider such as Stripe or GitHub. Every event it
            receives is kept, can be looked at, and is delivered to the destinations you connect.
          </p>
          <div class="buttons">
            <a class="button button-primary button-large" href={`${BASE}/sources/new`}>
              <Icon name="plus" />
              <span>Create a source</span>
            </a>
          </div>
        </div>
        <ol class="first-steps">
          {STEPS.map(([title, text], index) => (
            <li key={title}>
              <span class="first-no" aria-hidden="true">
                {index + 1}
              </span>
              <div>
                <h3>{title}</h3>
                <p>{text}</p>
              </div>
            </li>
          ))}
        </ol>
      </section>
      <section class="panel" aria-labelledby="terminal">
        <div class="panel-head">
          <h2 id="terminal">From a terminal</h2>
          <p>The same, without this page</p>
        </div>
        <div class="panel-body form">
          <Command text="strongroom sources add 'Stripe production' --provider stripe" />
          <Command text="strongroom listen 'Stripe production' --forward http://localhost:3000/hook" />
        </div>
      </section>
    </div>
  )
}
