"""A headless Chromium with one page, driven over the DevTools protocol through pipes.

    with Chromium() as browser:
        browser.open('/tmp/picture.html')
        browser.evaluate('document.title')
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')
TIMEOUT = 60  # seconds, for anything


def find():
    """The path of the browser, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Chromium:
    def __init__(self, width=1600, height=1000):
        self.width, self.height = width, height
        self.events = []  # of the page, as the protocol has them
        self._buffer, self._id = b'', 0

    def __enter__(self):
        self._profile = tempfile.TemporaryDirectory(prefix='weft_chromium_')
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        # The protocol is spoken on the descriptors 3 and 4.
        def connect():
            read, write = os.dup(commands), os.dup(answers)
            os.dup2(read, 3)
            os.dup2(write, 4)
        arguments = [find(), '--headless=new', '--disable-gpu', '--hide-scrollbars', '--remote-debugging-pipe',
                     '--no-first-run', f'--user-data-dir={self._profile.name}',
                     f'--window-size={self.width},{self.height}', 'about:blank']
        if os.geteuid() == 0:
            arguments.insert(1, '--no-sandbox')
        self._process = subprocess.Popen(arguments, preexec_fn=connect, close_fds=False,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        os.set_blocking(self._answers, False)
        page = next(t for t in self._call('Target.getTargets')['targetInfos'] if t['type'] == 'page')
        self._session = self._call('Target.attachToTarget', {'targetId': page['targetId'], 'flatten': True})['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')
        self.call('Emulation.setDeviceMetricsOverride',
                  {'width': self.width, 'height': self.height, 'deviceScaleFactor': 1, 'mobile': False})
        return self

    def __exit__(self, *_):
        try:
            self._call('Browser.close')
            self._process.wait(10)
        except (EOFError, OSError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._commands)
        os.close(self._answers)
        shutil.rmtree(self._profile.name, ignore_errors=True)

    def _read(self):
        end = time.monotonic() + TIMEOUT
        while b'\0' not in self._buffer:
            try:
                chunk = os.read(self._answers, 1 << 20)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise TimeoutError('chromium does not answer') from None
                time.sleep(0.002)
                continue
            if not chunk:
                raise EOFError('chromium has ended')
            self._buffer += chunk
        message, self._buffer = self._buffer.split(b'\0', 1)
        return json.loads(message)

    def _call(self, method, parameters=None, session=None):
        self._id += 1
        message = {'id': self._id, 'method': method, 'params': parameters or {}}
        if session:
            message['sessionId'] = session
        os.write(self._commands, json.dumps(message).encode() + b'\0')
        while True:
            answer = self._read()
            if answer.get('id') == self._id:
                if 'error' in answer:
                    raise RuntimeError(f'{method}: {answer["error"]}')
                return answer['result']
            self.events.append(answer)

    def call(self, method, parameters=None):
        """Of the page."""
        return self._call(method, parameters, self._session)

    def evaluate(self, expression):
        """Its value, awaited; RuntimeError when it throws."""
        result = self.call('Runtime.evaluate', {'expression': expression, 'returnByValue': True, 'awaitPromise': True})
        if 'exceptionDetails' in result:
            raise RuntimeError(result['exceptionDetails'].get('exception', {}).get('description', 'an exception'))
        return result['result'].get('value')

    def open(self, path):
        """Milliseconds from the navigation to the first picture."""
        self.events.clear()
        self.call('Page.navigate', {'url': 'file://' + os.path.abspath(path)})
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            # Asked between pages, there may be no document.
            ready = self.evaluate('document.documentElement && document.documentElement.dataset.ready || ""')
            if ready:
                return int(ready)
            time.sleep(0.02)
        raise TimeoutError(f'{path}: no picture; {self.complaints()}')

    def complaints(self):
        """What the page wrote to the console, and what it threw."""
        kinds = ('Runtime.exceptionThrown', 'Log.entryAdded', 'Runtime.consoleAPICalled')
        return [event['params'] for event in self.events if event.get('method') in kinds]

    def requests(self):
        """Addresses that were asked for."""
        return [event['params']['request']['url'] for event in self.events
                if event.get('method') == 'Network.requestWillBeSent']

    def click(self, x, y):
        for kind, count in (('mouseMoved', 0), ('mousePressed', 1), ('mouseReleased', 1)):
            self.call('Input.dispatchMouseEvent', {'type': kind, 'x': x, 'y': y, 'button': 'left' if count else 'none',
                                                   'clickCount': count, 'buttons': int(kind == 'mousePressed')})

    def drag(self, points):
        """Presses at the first, moves to each, releases at the last."""
        event = lambda kind, x, y: self.call('Input.dispatchMouseEvent', {
            'type': kind, 'x': x, 'y': y, 'button': 'left', 'buttons': 1, 'clickCount': 1})
        event('mousePressed', *points[0])
        for point in points:
            event('mouseMoved', *point)
        event('mouseReleased', *points[-1])

    def press(self, key):
        self.call('Input.dispatchKeyEvent', {'type': 'keyDown', 'key': key, 'text': key if len(key) == 1 else ''})
        self.call('Input.dispatchKeyEvent', {'type': 'keyUp', 'key': key})

    def write(self, text):
        self.call('Input.insertText', {'text': text})

    def screenshot(self, path):
        self.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
        image = self.call('Page.captureScreenshot', {'format': 'png'})['data']
        with open(path, 'wb') as file:
            file.write(base64.b64decode(image))

    def pdf(self):
        """The page as it is printed."""
        return base64.b64decode(self.call('Page.printToPDF', {'printBackground': True, 'landscape': True})['data'])
