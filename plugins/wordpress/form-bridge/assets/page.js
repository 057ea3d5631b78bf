/* Runs the steps of connecting one after another, then reloads the page to show the result. */
;(() => {
  const status = document.querySelector('.form-bridge-status[data-next-step]')

  /** The phase after the next step, or undefined if the site did not respond. */
  async function runNextStep() {
    try {
      const { nextStep } = status.dataset
      const response = await fetch(nextStep, { method: 'POST', credentials: 'same-origin' })
      return (await response.json()).phase
    } catch {
      return undefined
    }
  }

  async function poll() {
    const phase = await runNextStep()
    if (phase === 'idle' || phase === 'failed') location.reload()
    else setTimeout(poll, phase === undefined ? 5000 : 1000)
  }

  if (status) void poll()
})()
