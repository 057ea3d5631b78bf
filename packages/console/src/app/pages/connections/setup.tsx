/** Everything about a connection that can be changed, beside the dry run, with one button to save. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { ApiFailure, hasCode, messageOf } from '../../api/errors.ts'
import { type Connection, V1 } from '../../api/ferryhook.ts'
import { isOnline, request } from '../../api/request.ts'
import { formatCount } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { ToneIcon } from '../../parts/status.tsx'
import { guardLeaving } from '../../router.ts'
import { MOD_LABEL, useKeys } from '../../shell/keyboard.ts'
import { showToast } from '../../shell/toasts.tsx'
import { ConflictDialog } from './conflict-dialog.tsx'
import { HeaderForm, LimitForm, RetryForm } from './delivery-options.tsx'
import { DestinationForm } from './destination-form.tsx'
import {
  changedSections,
  changesOf,
  type Draft,
  draftProblem,
  keepDraft,
  storedDraft,
  type Section,
  SECTION_NAMES,
  toDraft,
} from './draft.ts'
import { DryRunPane, type DryRunResult } from './dry-run.tsx'
import { FilterForm, FilterJson } from './filter-form.tsx'
import { countConditions } from './filter-rows.ts'
import { TransformForm, TRANSFORMS } from './transform-form.tsx'

interface Problem {
  message: string
  details: readonly { path: string; message: string }[]
}

export function Setup({
  saved,
  onSaved,
}: {
  saved: Connection
  onSaved: (connection: Connection) => void
}) {
  const kept = useSignal(storedDraft(saved.id))
  const draft = useSignal<Draft>(kept.value?.draft ?? toDraft(saved))
  /** The version that the draft started from. */
  const base = useSignal(kept.value ? { ...saved, rev: kept.value.rev } : saved)
  const problem = useSignal<Problem | undefined>(undefined)
  const conflict = useSignal<Connection | undefined>(undefined)
  const isSaving = useSignal(false)
  const result = useSignal<DryRunResult | undefined>(undefined)
  /** Raised when the draft is replaced, because editors keep their own text. */
  const version = useSignal(0)
  const isDryShown = useSignal(false)
  const changed = changedSections(draft.value, saved)
  const isDirty = changed.length > 0

  useEffect(() => {
    // Pausing and resuming change the revision but nothing that is edited here.
    if (base.peek().rev !== saved.rev && sameSetup(base.peek(), saved)) base.value = saved
  }, [saved])
  useEffect(() => keepDraft(base.value, isDirty ? draft.value : undefined), [draft.value, isDirty])
  useEffect(() => guardLeaving(() => changedSections(draft.peek(), saved).length > 0), [saved])
  // Leaving within the console is deliberate; what was typed is kept for reloads and crashes only.
  useEffect(() => () => keepDraft(saved, undefined), [])

  const change = (changes: Partial<Draft>) => {
    draft.value = { ...draft.peek(), ...changes }
    problem.value = undefined
  }
  const discard = () => {
    draft.value = toDraft(saved)
    base.value = saved
    version.value++
    problem.value = undefined
  }
  const save = async (over: Connection = base.value) => {
    const sections = changedSections(draft.value, saved)
    if (isSaving.value || sections.length === 0) return
    const invalid = draftProblem(draft.value)
    if (invalid) {
      problem.value = { message: invalid.message, details: [] }
      return
    }
    isSaving.value = true
    problem.value = undefined
    try {
      const json = { ...changesOf(draft.value, sections), rev: over.rev }
      const after = await request<Connection>('PATCH', `${V1}/connections/${saved.id}`, { json })
      conflict.value = undefined
      base.value = after
      draft.value = toDraft(after)
      kept.value = undefined
      onSaved(after)
      showToast({ text: 'Connection saved' })
    } catch (error) {
      if (hasCode(error, 'ferryhook.connection_changed')) {
        conflict.value = error.data['connection'] as Connection
      } else {
        const details = error instanceof ApiFailure ? error.details : []
        problem.value = { message: messageOf(error), details }
      }
    } finally {
      isSaving.value = false
    }
  }
  useKeys([{ keys: 'Mod+s', label: 'Save connection', run: () => void save() }], [saved])

  return (
    <>
      <div class="pane-switch">
        <div class="seg" role="group" aria-label="Show">
          <button
            type="button"
            aria-pressed={!isDryShown.value}
            onClick={() => (isDryShown.value = false)}
          >
            Setup
          </button>
          <button
            type="button"
            aria-pressed={isDryShown.value}
            onClick={() => (isDryShown.value = true)}
          >
            Dry run
          </button>
        </div>
      </div>
      <div class={isDryShown.value ? 'split split-even is-dry' : 'split split-even'}>
        <section class="pane pane-edit" aria-label="Setup">
          <div class="pane-scroll">
            {kept.value && isDirty && (
              <div class="strip is-info" role="status">
                <span>What you typed before was restored. Headers have to be entered again.</span>
                <button class="button button-small" type="button" onClick={discard}>
                  <span>Discard</span>
                </button>
              </div>
            )}
            <Sections
              key={version.value}
              saved={saved}
              draft={draft.value}
              changed={changed}
              onChange={change}
              problem={problem.value}
              result={result.value}
            />
          </div>
        </section>
        <DryRunPane
          connection={saved}
          draft={draft.value}
          onResult={(latest) => (result.value = latest)}
        />
      </div>
      {isDirty && (
        <SaveBar
          changed={changed}
          problem={problem.value}
          isSaving={isSaving.value}
          onDiscard={discard}
          onSave={() => void save()}
        />
      )}
      {conflict.value && (
        <ConflictDialog
          mine={draft.value}
          changed={changed}
          base={base.value}
          theirs={conflict.value}
          onKeepMine={() => void save(conflict.value)}
          onTakeTheirs={() => {
            const theirs = conflict.value
            if (!theirs) return
            conflict.value = undefined
            base.value = theirs
            draft.value = toDraft(theirs)
            version.value++
            onSaved(theirs)
          }}
          onClose={() => (conflict.value = undefined)}
        />
      )}
    </>
  )
}

function sameSetup(a: Connection, b: Connection): boolean {
  return (
    changedSections(toDraft(a), b).length === 0 && a.headerNames.join() === b.headerNames.join()
  )
}

const ORDER: readonly Section[] = [
  'destination',
  'filter',
  'transform',
  'headers',
  'retry',
  'limits',
]

function Sections(props: {
  saved: Connection
  draft: Draft
  changed: readonly Section[]
  onChange: (changes: Partial<Draft>) => void
  problem: Problem | undefined
  result: DryRunResult | undefined
}) {
  const { saved, draft, changed, onChange, problem, result } = props
  const isJson = useSignal(draft.filterText !== undefined)
  const detail = (field: string) =>
    problem?.details.find(({ path }) => path.startsWith(`body.${field}`))?.message
  const conditions = countConditions(draft.rows)
  const failure = result?.outcome === 'failed' ? result.error?.message : undefined
  const line = /line (\d+)/i.exec(failure ?? '')?.[1]
  const content: Record<
    Section,
    { summary: string; aside?: ComponentChildren; body: ComponentChildren }
  > = {
    destination: {
      summary: '',
      body: (
        <DestinationForm
          saved={saved}
          draft={draft}
          onChange={onChange}
          problem={detail('destinationUrl')}
          nameProblem={detail('name')}
        />
      ),
    },
    filter: {
      summary: conditions === 0 ? 'none' : formatCount(conditions, 'condition'),
      aside: (
        <div class="seg seg-small" role="group" aria-label="Filter as">
          <button type="button" aria-pressed={!isJson.value} onClick={() => (isJson.value = false)}>
            Form
          </button>
          <button type="button" aria-pressed={isJson.value} onClick={() => (isJson.value = true)}>
            JSON
          </button>
        </div>
      ),
      body: isJson.value ? (
        <FilterJson draft={draft} onChange={onChange} />
      ) : (
        <FilterForm draft={draft} onChange={onChange} />
      ),
    },
    transform: {
      summary: '',
      aside: (
        <div class="seg seg-small" role="group" aria-label="Transform">
          {TRANSFORMS.map(([type, label]) => (
            <button
              type="button"
              aria-pressed={draft.transformType === type}
              key={type}
              onClick={() => onChange({ transformType: type })}
            >
              {label}
            </button>
          ))}
        </div>
      ),
      body: (
        <TransformForm
          draft={draft}
          onChange={onChange}
          problemLine={line === undefined ? undefined : Number(line)}
        />
      ),
    },
    headers: {
      summary: saved.headerNames.length === 0 ? 'none' : saved.headerNames.join(', '),
      body: <HeaderForm draft={draft} onChange={onChange} names={saved.headerNames} />,
    },
    retry: {
      summary: draft.retry === '' ? 'standard: 8 attempts within 41 hours' : draft.retry,
      body: <RetryForm draft={draft} onChange={onChange} problem={detail('retryConfig')} />,
    },
    limits: {
      summary: limitSummary(draft),
      body: <LimitForm draft={draft} onChange={onChange} />,
    },
  }
  return (
    <form class="sets" onSubmit={(event) => event.preventDefault()}>
      {ORDER.map((section) => (
        <Set
          key={section}
          section={section}
          isChanged={changed.includes(section)}
          summary={content[section].summary}
          aside={content[section].aside}
        >
          {content[section].body}
        </Set>
      ))}
    </form>
  )
}

function limitSummary({ concurrency, perSecond }: Draft): string {
  const parts = [concurrency && `${concurrency} at a time`, perSecond && `${perSecond} a second`]
  return parts.filter(Boolean).join(', ') || 'none'
}

function Set(props: {
  section: Section
  isChanged: boolean
  summary: string
  aside?: ComponentChildren
  children: ComponentChildren
}) {
  const { section, isChanged, summary, aside } = props
  const isOpen = useSignal(['destination', 'filter', 'transform'].includes(section))
  const name = SECTION_NAMES[section]
  return (
    <section class="set" aria-label={name}>
      <div class="set-head">
        <h2>
          <button
            class="set-toggle"
            type="button"
            aria-expanded={isOpen.value}
            onClick={() => (isOpen.value = !isOpen.value)}
          >
            <svg class="icon chev" viewBox="0 0 16 16" aria-hidden="true">
              <path d="M6.5 4.5 10 8l-3.500 3.500" />
            </svg>
            <span>{name.charAt(0).toUpperCase() + name.slice(1)}</span>
          </button>
        </h2>
        {summary !== '' && <span class="cut small soft">{summary}</span>}
        <span class="push" />
        {isChanged && <span class="tag tag-warn">Changed</span>}
        {isOpen.value && aside}
      </div>
      {isOpen.value && <div class="set-body">{props.children}</div>}
    </section>
  )
}

function SaveBar(props: {
  changed: readonly Section[]
  problem: Problem | undefined
  isSaving: boolean
  onDiscard: () => void
  onSave: () => void
}) {
  const { changed, problem, isSaving } = props
  const names = changed.map((section) => SECTION_NAMES[section]).join(', ')
  return (
    <div class="save-bar" role="region" aria-label="Unsaved changes">
      {problem ? (
        <span class="save-problem" role="alert">
          <ToneIcon shape="cross" tone="bad" />
          <span>
            {problem.message} {problem.details[0] && problem.details[0].message}
          </span>
        </span>
      ) : (
        <>
          <span class="save-count">
            <ToneIcon shape="triangle" tone="warn" />
            <b>{formatCount(changed.length, 'unsaved change')}</b>
          </span>
          <span class="save-note soft">
            {names.charAt(0).toUpperCase() + names.slice(1)}. Deliveries use the saved version until
            then.
          </span>
        </>
      )}
      <span class="push" />
      <button class="button" type="button" onClick={props.onDiscard}>
        <span>Discard</span>
      </button>
      <button
        class="button button-primary"
        type="button"
        aria-disabled={isSaving || !isOnline.value}
        title={isOnline.value ? undefined : 'The server cannot be reached. What you typed stays.'}
        onClick={props.onSave}
      >
        <Icon name="check" />
        <span>Save</span>
        <kbd class="hide-small">{MOD_LABEL}</kbd>
        <kbd class="hide-small">S</kbd>
      </button>
    </div>
  )
}
