/** Recovery codes, shown once: to copy, to store as a file, or to print. */
import { copyText } from '../copy.tsx'
import { Dialog } from '../dialog.tsx'
import { Icon } from '../icon.tsx'
import { showToast } from '../../shell/toasts.tsx'

export function RecoveryCodes(props: {
  codes: readonly string[]
  account: string
  onClose: () => void
}) {
  const { codes } = props
  const copy = async () => {
    if (await copyText(codes.join('\n'))) showToast({ text: 'The codes were copied' })
  }
  const store = () => {
    const text = `Recovery codes of ${props.account} at ${location.host}\nEach works once.\n\n${codes.join('\n')}\n`
    const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
    const link = document.createElement('a')
    link.href = url
    link.download = 'recovery-codes.txt'
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <Dialog
      title="Store your recovery codes"
      onClose={props.onClose}
      onSubmit={props.onClose}
      isModalOnly
      foot={
        <button class="button button-primary" type="submit">
          <span>I have stored them</span>
        </button>
      }
    >
      <p>
        Each signs in once if you lose your factors. They are shown only now: store them where your
        password is not.
      </p>
      <ul class="recovery-codes mono" aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div class="buttons">
        <button class="button" type="button" onClick={() => void copy()}>
          <Icon name="copy" />
          <span>Copy codes</span>
        </button>
        <button class="button" type="button" onClick={store}>
          <Icon name="download" />
          <span>Download</span>
        </button>
      </div>
    </Dialog>
  )
}
