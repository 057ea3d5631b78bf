/* Has the next step of connecting done until there is none, then shows what came of it. */
;(() => {
  const status = document.querySelector('.form-bridge-status[data-work]')

  /** What the site says about connecting, or nothing if it does not answer now. */
  async function nextStep() {
    try {
      const response = await fetch(status.dataset.work, {
        method: 'POST',
        credentials: 'same-origin',
        headers: { 'X-WP-Nonce': status.dataset.nonce },
      })
      return (await response.json()).phase
    } catch {
      return undefined
    }
  }

  async function work() {
    const phase = await nextStep()
    if (phase === 'idle' || phase === 'failed') location.reload()
    else setTimeout(work, phase === undefined ? 5000 : 1000)
  }

  if (status) void work()
})()
