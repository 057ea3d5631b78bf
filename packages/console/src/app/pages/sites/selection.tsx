/** What can be done with the selected sites: each is changed by itself, and failures are named. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { type SiteAction, type SiteLine, sites as api } from '../../api/form-bridge.ts'
import { missingRole } from '../../api/operator-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { formatCount } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { ReasonDialog } from './actions.tsx'

type BulkAction = Extract<SiteAction, 'suspend' | 'resume'>

export function Selection(props: {
  sites: readonly SiteLine[]
  onClear: () => void
  onDone: () => void
}) {
  const asked = useSignal<BulkAction | undefined>(undefined)
  const progress = useSignal<string | undefined>(undefined)
  const { sites } = props
  if (sites.length === 0) return null
  const able = (action: BulkAction) =>
    sites.filter(({ status }) => status === (action === 'suspend' ? 'active' : 'suspended'))
  const notAllowed = (action: BulkAction) =>
    missingRole('editor', 'form-bridge') ??
    (able(action).length === 0 ? `None of them can be ${PAST[action]}` : undefined)

  const run = async (action: BulkAction, reason: string) => {
    const chosen = able(action)
    const failed: string[] = []
    for (const [at, { site_id, domain }] of chosen.entries()) {
      progress.value = `${at + 1} of ${chosen.length}`
      await api.act(site_id, action, reason).catch((error: unknown) => {
        failed.push(`${domain}: ${messageOf(error)}`)
      })
    }
    progress.value = undefined
    const done = chosen.length - failed.length
    showToast({
      text: `${formatCount(done, 'site')} ${PAST[action]}${failed.length > 0 ? `, ${failed.length} failed. ${failed[0]}` : ''}`,
      tone: failed.length > 0 ? 'bad' : 'ok',
    })
    props.onClear()
    props.onDone()
  }

  return (
    <div class="picked-place">
      <div class="picked" role="region" aria-label="Selected sites">
        <strong>{progress.value ?? `${formatCount(sites.length, 'site')} selected`}</strong>
        <ActionButton
          small
          run={() => void (asked.value = 'suspend')}
          notAllowed={notAllowed('suspend')}
        >
          <Icon name="pause" />
          <span>Suspend…</span>
        </ActionButton>
        <ActionButton
          small
          run={() => void (asked.value = 'resume')}
          notAllowed={notAllowed('resume')}
        >
          <Icon name="play" />
          <span>Resume…</span>
        </ActionButton>
        <button
          class="button button-icon button-small"
          type="button"
          aria-label="Clear the selection"
          onClick={props.onClear}
        >
          <Icon name="close" />
        </button>
      </div>
      {asked.value !== undefined && (
        <ReasonDialog
          action={asked.value}
          name={formatCount(able(asked.value).length, 'site')}
          onConfirm={(reason) => run(asked.value ?? 'suspend', reason)}
          onClose={() => (asked.value = undefined)}
        />
      )}
    </div>
  )
}

const PAST = { suspend: 'suspended', resume: 'resumed' } as const
