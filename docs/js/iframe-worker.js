/* Search in pages that are opened as files: browsers refuse workers there, so a worker's script runs in a hidden frame. */
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(script) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      frame.srcdoc = "<!doctype html>"
      this.inside = new Promise(done => {
        frame.onload = () => {
          const inside = frame.contentWindow
          inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
          const code = inside.document.createElement("script")
          code.src = script
          code.onload = () => done(inside)
          inside.document.body.append(code)
        }
      })
      document.body.append(frame)
    }

    postMessage(data) {
      this.inside.then(inside => inside.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
