/** Uploads a signed package: the zip and the signature that `strongroom plugin sign` wrote. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { ApiFailure, messageOf } from '../../api/errors.ts'
import { PLUGIN, releases } from '../../api/form-bridge.ts'
import { uploadRelease } from '../../api/upload-release.ts'
import { Command } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, Problem, TextField } from '../../parts/field.tsx'
import { formatBytes, formatPercent } from '../../parts/format.ts'
import { showToast } from '../../shell/toasts.tsx'

/** As the server has it. */
const MAX_PACKAGE_BYTES = 20 * 1024 * 1024
const MAX_SIGNATURE_BYTES = 1_024
const VERSION = /^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$/

export function PublishDialog(props: {
  newest: string | undefined
  onClose: () => void
  onDone: () => void
}) {
  const zip = useSignal<File | undefined>(undefined)
  const signature = useSignal('')
  const version = useSignal('')
  const sent = useSignal<number | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const abort = useRef(new AbortController())
  useEffect(() => () => abort.current.abort(), [])
  const isBusy = sent.value !== undefined

  const zipProblem = problemOfZip(zip.value)
  const isReady =
    zip.value !== undefined &&
    zipProblem === undefined &&
    VERSION.test(version.value.trim()) &&
    signature.value.trim() !== ''

  const chooseZip = (file: File | undefined) => {
    zip.value = file
    error.value = undefined
    const found = file && new RegExp(`^${PLUGIN}-(.+)\\.zip$`).exec(file.name)?.[1]
    if (found !== undefined && VERSION.test(found)) version.value = found
  }
  const chooseSignature = async (file: File | undefined) => {
    error.value = undefined
    if (!file) return
    if (file.size > MAX_SIGNATURE_BYTES) {
      error.value = new Error('too large')
      signature.value = ''
      return
    }
    signature.value = (await file.text()).trim()
  }
  const publish = async () => {
    const file = zip.value
    if (!isReady || isBusy || !file) return
    sent.value = 0
    error.value = undefined
    try {
      // Asks to sign in again if the session has ended, before anything is sent.
      await releases.list(abort.current.signal)
      await uploadRelease({
        version: version.value.trim(),
        signature: signature.value.trim(),
        zip: file,
        signal: abort.current.signal,
        onProgress: (share) => (sent.value = share),
      })
      showToast({ text: `${version.value.trim()} is published` })
      props.onDone()
      props.onClose()
    } catch (thrown) {
      error.value = thrown
    } finally {
      sent.value = undefined
    }
  }
  const cancel = () => {
    abort.current.abort()
    props.onClose()
  }
  return (
    <Dialog
      title="Publish a release"
      onClose={cancel}
      onSubmit={() => void publish()}
      isModalOnly={isBusy}
      foot={
        <>
          <button class="button" type="button" onClick={cancel}>
            <span>{isBusy ? 'Cancel upload' : 'Cancel'}</span>
          </button>
          <button class="button button-primary" type="submit" disabled={!isReady || isBusy}>
            <span>Publish release</span>
          </button>
        </>
      }
    >
      <ul class="does">
        <li>Sites are offered it at their next update check.</li>
        <li>It must be signed with a release key, which this server does not have.</li>
        <li>
          {props.newest === undefined
            ? 'A published version can be withdrawn, but never changed.'
            : `Its version must be higher than ${props.newest}. It can be withdrawn, but never changed.`}
        </li>
      </ul>
      <Field
        label="Package"
        hint={zip.value ? formatBytes(zip.value.size) : 'The zip file, at most 20 MiB'}
        problem={zipProblem}
      >
        {(ids) => (
          <input
            class="input file"
            type="file"
            accept=".zip,application/zip"
            disabled={isBusy}
            {...ids}
            onChange={(event) => chooseZip(event.currentTarget.files?.[0])}
          />
        )}
      </Field>
      <Field
        label="Signature"
        hint="The .sig file that “strongroom plugin sign” wrote beside the zip"
      >
        {(ids) => (
          <input
            class="input file"
            type="file"
            accept=".sig,text/plain"
            disabled={isBusy}
            {...ids}
            onChange={(event) => void chooseSignature(event.currentTarget.files?.[0])}
          />
        )}
      </Field>
      <TextField
        label="Version"
        class="input mono"
        placeholder="1.0.0"
        disabled={isBusy}
        maxLength={64}
        value={version.value}
        onInput={(value) => (version.value = value)}
      />
      {sent.value !== undefined && (
        <div role="status">
          <progress class="bar-progress" max={1} value={sent.value} aria-label="Upload" />
          <p class="small">
            {sent.value < 1
              ? `${formatPercent(sent.value, 0)} sent`
              : 'Sent. The server checks and stores the package.'}
          </p>
        </div>
      )}
      <Command
        text={`strongroom plugin publish dist/${PLUGIN}-${version.value.trim() || '1.0.0'}.zip`}
      />
      {error.value !== undefined && <Problem>{textOf(error.value)}</Problem>}
    </Dialog>
  )
}

function problemOfZip(file: File | undefined): string | undefined {
  if (!file) return undefined
  if (file.size === 0) return 'The file is empty'
  return file.size > MAX_PACKAGE_BYTES
    ? `The package has ${formatBytes(file.size)}; at most 20 MiB are accepted`
    : undefined
}

/** With the problems of the package, which the server lists. */
function textOf(error: unknown): string {
  if (error instanceof ApiFailure) {
    return [error.message, ...error.details.map(({ message }) => message)].join(' ')
  }
  if (error instanceof Error && error.message === 'too large')
    return 'The signature file is too large. Choose the .sig file beside the zip.'
  return messageOf(error)
}
