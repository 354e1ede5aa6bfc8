"""What bench/peers measures: one file for each peer, and what they share."""

from .go import Go
from .nchan import Nchan
from .nginx_dav import NginxDav
from .node_form import NodeForm
from .prosody import Prosody
from .pushpin import Pushpin, PushpinUnlimited
from .restante import Restante
from .tus import Tus, TusAtOnce

# In the order of the table.
ALL = [Restante, Go, NodeForm, Tus, TusAtOnce, NginxDav, Prosody, Nchan, Pushpin, PushpinUnlimited]
