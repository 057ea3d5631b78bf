/** The KMS that wraps the branch keys, and its audit log. */
import { operator } from '../../api/operator-session.ts'
import { Command, CopyId } from '../../parts/copy.tsx'
import { formatCount, formatDuration, formatNumber, now } from '../../parts/format.ts'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { getKms, type KmsState } from './api.ts'

const REFRESH_MS = 60_000

export function KmsPanels() {
  // The state of the KMS belongs to the server, which is closed to operators of single services.
  if (operator.value?.services) return null
  return <Panels />
}

function Panels() {
  const kms = useResource(getKms, { everyMs: REFRESH_MS })
  return (
    <Loaded resource={kms} what="the KMS">
      {(state) => (
        <div class="cols cols-2">
          <KmsPanel kms={state} />
          <AuditPanel kms={state} />
        </div>
      )}
    </Loaded>
  )
}

function KmsPanel({ kms }: { kms: KmsState }) {
  const { embedded, arn } = kms
  const isEnabled = kms.state === 'ready' && (embedded?.key?.state ?? 'Enabled') === 'Enabled'
  const newest = embedded?.key?.newestVersionAt
  return (
    <section class="panel" aria-labelledby="h-kms">
      <div class="panel-head">
        <h2 id="h-kms">KMS</h2>
        <Status status={isEnabled ? 'enabled' : 'not_ready'} look="badge">
          {isEnabled ? 'Enabled' : (embedded?.key?.state ?? 'Not ready')}
        </Status>
        <p class="push">{kms.label}</p>
      </div>
      <div class="panel-body">
        <dl class="facts">
          <dt>Key</dt>
          <dd>
            <CopyId id={arn.slice(arn.lastIndexOf(':') + 1)} what="key id" />
          </dd>
          <dt>Location</dt>
          <dd class="cut">{kms.location}</dd>
          {embedded?.key && (
            <>
              <dt>Material</dt>
              <dd>
                {formatCount(embedded.key.versions, 'version')}
                {newest != null && `, newest ${formatDuration(now.value - Date.parse(newest))} old`}
              </dd>
            </>
          )}
          {embedded && (
            <>
              <dt>Master key</dt>
              <dd>
                <Status status={embedded.problem === null ? 'ready' : 'not_ready'} look="quiet">
                  {embedded.problem ?? 'Fits'}
                </Status>{' '}
                <span class="faint">
                  {embedded.masterKey.protection === 'passphrase'
                    ? 'passphrase set'
                    : 'no passphrase'}
                </span>
              </dd>
            </>
          )}
        </dl>
      </div>
      <div class="panel-foot">
        <Command text={embedded ? 'strongroom kms rotate' : 'strongroom kms status'} />
      </div>
    </section>
  )
}

function AuditPanel({ kms: { embedded } }: { kms: KmsState }) {
  const audit = embedded?.audit
  const isIntact = audit?.findings === 0
  return (
    <section class="panel" aria-labelledby="h-chain">
      <div class="panel-head">
        <h2 id="h-chain">Audit chain</h2>
        {audit && (
          <Status status={isIntact ? 'verified' : 'failed'} look="badge">
            {isIntact ? 'Intact' : formatCount(audit.findings, 'finding')}
          </Status>
        )}
        {audit && <p class="push">{formatNumber(audit.records)} calls</p>}
      </div>
      <div class="panel-body form">
        {audit ? (
          <div class="field">
            <span class="label">Hash of the last line</span>
            <Command text={audit.last} plain />
            <p class="hint">
              Store it elsewhere now and then: only with it can you detect that the end was removed.
            </p>
          </div>
        ) : (
          <p class="faint">
            {embedded
              ? 'The log is empty, or too large to be verified here.'
              : 'CloudTrail has the calls of this KMS.'}
          </p>
        )}
      </div>
      <div class="panel-foot">
        <Command text="strongroom kms audit verify" />
      </div>
    </section>
  )
}
